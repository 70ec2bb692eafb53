/** Drops files on elements, as a person does who drags them from a folder into the page. */
import type { CDPSession, JSHandle, Locator } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import type { CallLimit, CommandContext, Point } from '../../../core/operation/command.ts'
import { actionPoint, checkDrop } from './action-point.ts'

/** Moves over the page: it may show the element for the drop only after the first one. */
const moves = 10

/** Drops files on an element. Returns whether the page took them. @throws BaxError when it accepted them, but did not */
export async function dropFiles(
  context: Pick<CommandContext, 'page' | 'send' | 'poll'>,
  { element, paths, selector }: { readonly element: Locator; readonly paths: string[]; readonly selector: string },
  limit: CallLimit,
): Promise<boolean> {
  const { page, send } = context
  await element.scrollIntoViewIfNeeded(limit)
  const untilReached = await checkDrop(context, { target: element, selector }, limit)
  const point = await actionPoint(element, undefined, limit)
  const watch = await element.evaluateHandle(watchDrop, undefined, limit)
  const session = await page.context().newCDPSession(page)
  const drag = dragOf(session, point, paths)
  try {
    if (!(await isAccepted(watch, drag, untilReached))) return false
    await send(() => drag('drop'))
    if (await isTaken(watch, paths.length)) return true
    throw new BaxError('action_failed', `the files were dropped on ${selector}, but the page did not take them`, {
      details: { selector },
    })
  } finally {
    // Fails for a page that has closed or navigated.
    await watch.evaluate(({ stop }) => stop()).catch(() => {})
    await session.detach().catch(() => {})
  }
}

type Watch = JSHandle<ReturnType<typeof watchDrop>>

type Drag = (type: 'dragEnter' | 'dragOver' | 'drop' | 'dragCancel') => Promise<unknown>

const dragOf =
  (session: CDPSession, point: Point, files: string[]): Drag =>
  (type) =>
    session.send('Input.dispatchDragEvent', { type, ...point, data: { items: [], files, dragOperationsMask: 1 } })

/** Drags over the page; returns whether it accepts a drop. A drop that it does not accept would open the file. */
async function isAccepted(watch: Watch, drag: Drag, untilReached: () => Promise<void>): Promise<boolean> {
  await drag('dragEnter')
  try {
    await untilReached()
  } catch (error) {
    await drag('dragCancel')
    throw error
  }
  for (let move = 1; move <= moves; move++) {
    await drag('dragOver')
    const accepts = await watch.evaluate(({ accepts }) => accepts())
    if (accepts && move > 1) return true
  }
  await drag('dragCancel')
  return false
}

/** Returns whether the page took the dropped files. */
async function isTaken(watch: Watch, count: number): Promise<boolean> {
  try {
    return await watch.evaluate(({ isTaken }, files) => isTaken(files), count)
  } catch (error) {
    // The drop has led to another page: the browser itself would show the file in another tab.
    if (error instanceof Error && /context was destroyed|navigation/i.test(error.message)) return true
    throw error
  }
}

/** Runs in the page: watches a drag, and whether the page reads the dropped files. */
function watchDrop(node: Node) {
  const view = node.ownerDocument!.defaultView as Window & typeof globalThis
  const stop = new AbortController()
  const options = { capture: true, signal: stop.signal }
  let over: DragEvent | undefined
  let dropped: DragEvent | undefined
  let field: HTMLInputElement | undefined
  let isRead = false
  const fieldOf = (event: DragEvent) =>
    event
      .composedPath()
      .find((target): target is HTMLInputElement => target instanceof view.HTMLInputElement && target.type === 'file')
  view.addEventListener(
    'dragover',
    (event) => {
      over = event
      field = fieldOf(event)
    },
    options,
  )
  view.addEventListener('drop', (event) => void (dropped = event), options)
  // A browser opens a file whose drop the page does not prevent.
  view.addEventListener('drop', (event) => void (fieldOf(event) ?? event.preventDefault()), { signal: stop.signal })
  const shape = view.DataTransfer.prototype
  const original = Object.getOwnPropertyDescriptors(shape)
  for (const name of ['files', 'items'] as const) {
    Object.defineProperty(shape, name, {
      ...original[name],
      get(this: DataTransfer) {
        const list = (original[name].get as () => FileList | DataTransferItemList).call(this)
        // They are empty after the event.
        if (this === dropped?.dataTransfer && list.length > 0) isRead = true
        return list
      },
    })
  }
  return {
    accepts: async () => {
      // The page may show another element.
      await Promise.race([
        new Promise((done) => view.requestAnimationFrame(done)),
        new Promise((done) => view.setTimeout(done, 100)),
      ])
      return (
        over !== undefined &&
        (field ? !field.disabled : over.defaultPrevented && over.dataTransfer?.dropEffect !== 'none')
      )
    },
    isTaken: (count: number) => isRead || (field?.files?.length ?? 0) >= count,
    stop: () => {
      stop.abort()
      for (const name of ['files', 'items'] as const) Object.defineProperty(shape, name, original[name])
    },
  }
}

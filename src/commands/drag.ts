/** Commands that drag and scroll. */
import type { Locator, Page } from 'playwright'
import { z } from 'zod'
import { type CallLimit, type CommandContext, defineCommand, type Point } from '../core/operation/command.ts'
import { BaxError } from '../core/errors/errors.ts'
import { withDeadline } from '../core/process/deadline.ts'
import { elementTimeout, modifierKeys, modifiers, point, selector } from './fields.ts'
import { actionPoint, checkDrop } from './input/drop/action-point.ts'

/** Moves between the ends of a drag; pages that track the pointer need more than one jump. */
const dragSteps = 10

export const drag = defineCommand({
  kind: 'action',
  summary: 'Drag from one position to another',
  example: ['100,200 400,200', '100,200 400,200 --modifiers 8'],
  data: z.object({
    from: point.describe('Where to press the button, in CSS pixels of the viewport'),
    to: point.describe('Where to release it, in CSS pixels of the viewport'),
    modifiers,
  }),
  input: { kind: 'press', noun: 'drag' },
  result: null,
  run: async (context, { from, to, modifiers }) => {
    const { page, pointer } = context
    await holding(page, modifiers, async () => {
      await page.mouse.move(from.x, from.y)
      await dragFromHere(context, to)
    })
    Object.assign(pointer, to)
  },
})

export const drag_to = defineCommand({
  kind: 'action',
  summary: 'Drag an element to another element or position',
  also: ['drag'],
  // Any text can be a selector, so the position comes first.
  positional: [
    ['selector', 'target_position'],
    ['selector', 'target_selector'],
  ],
  example: ["'#card-1' '#done'", "'#slider' 200,10"],
  data: z
    .object({
      selector,
      target_selector: selector.optional().describe('Element to drop on'),
      source_position: point
        .optional()
        .describe('Where to grab it, in CSS pixels from the top left of the element; its middle when omitted'),
      target_position: point
        .optional()
        .describe('Where to drop, from the top left of the target, or of the element without target_selector'),
      modifiers,
      timeout_ms: elementTimeout,
    })
    .refine((data) => data.target_selector !== undefined || data.target_position !== undefined, {
      message: 'is required unless target_position is set',
      path: ['target_selector'],
    }),
  input: { kind: 'press', noun: 'drag' },
  result: null,
  run: async (context, data) => {
    const { page, act, send } = context
    const { target_selector, timeout_ms } = data
    await holding(page, data.modifiers, async () => {
      if (target_selector === undefined) {
        await act(data, 'pointer', (element, limit) => dragInside(context, element, data, limit))
        return
      }
      const target = await act({ selector: target_selector, timeout_ms }, 'visible', async (element, limit) => {
        await element.waitFor({ state: 'visible', ...limit })
        return element
      })
      await act(
        data,
        'pointer',
        async (element, limit) => {
          const watch = await watchDrag(page)
          try {
            await dragOnto(context, { source: element, target, ...data, target_selector }, limit)
          } catch (error) {
            // Not awaited: the page may not answer.
            void watch.end()
            throw error
          }
          if (await watch.end()) {
            // Playwright has sent it.
            await send(async () => {})
            throw new BaxError(
              'action_failed',
              `${data.selector} was dragged, but ${target_selector} did not accept it`,
              {
                details: { selector: data.selector, target_selector, delivered: true },
              },
            )
          }
        },
        { also: target_selector, endsOn: target },
      )
    })
  },
})

export const scroll_to = defineCommand({
  kind: 'action',
  summary: 'Scroll the page to a position',
  example: ['1200', '0 --x 400'],
  data: z.object({
    y: z.number().describe('CSS pixels from the top of the document'),
    x: z.number().optional().describe('CSS pixels from its left; unchanged when omitted'),
  }),
  result: z.object({ x: z.number(), y: z.number() }).describe('Position after scrolling, at most the end of the page'),
  run: async ({ page }, { x, y }) => ({
    data: await page.evaluate(
      (to) => {
        scrollTo({ left: to.x ?? scrollX, top: to.y, behavior: 'instant' })
        return { x: Math.round(scrollX), y: Math.round(scrollY) }
      },
      { x, y },
    ),
  }),
})

export const scroll_into_view = defineCommand({
  kind: 'action',
  summary: 'Scroll an element into view',
  example: "'#footer'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  result: null,
  run: ({ act }, target) => act(target, 'visible', (element, limit) => element.scrollIntoViewIfNeeded(limit)),
})

interface DragPositions {
  readonly source_position?: Point | undefined
  readonly target_position?: Point | undefined
}

/** Drags an element to a position relative to its own top left corner, which may lie outside of it. */
async function dragInside(
  context: CommandContext,
  element: Locator,
  { source_position, target_position }: DragPositions,
  limit: CallLimit,
): Promise<void> {
  const grab = { ...(source_position && { position: source_position }), ...limit }
  await element.hover(grab)
  // Again, at the place that it has after what the pointer causes, such as the growth of a handle.
  await element.hover(grab)
  const corner = await element.boundingBox(limit)
  if (!corner) throw new BaxError('element_detached', 'the element was removed from the page during the drag')
  const to = { x: corner.x + target_position!.x, y: corner.y + target_position!.y }
  await dragFromHere(context, to)
  Object.assign(context.pointer, to)
}

const isOutOfView = (element: Locator, position: Point | undefined, limit: CallLimit): Promise<boolean> =>
  element.evaluate(
    (node, at) => {
      const { x, y, width, height } = node.getBoundingClientRect()
      const [left, top] = [x + (at?.x ?? width / 2), y + (at?.y ?? height / 2)]
      return left < 0 || top < 0 || left > innerWidth || top > innerHeight
    },
    position,
    limit,
  )

/** Scrolls a target into view, or a position in it, to which Playwright scrolls only with the pointer. */
const showPoint = (target: Locator, position: Point | undefined, limit: CallLimit): Promise<void> =>
  position ? target.hover({ position, force: true, ...limit }) : target.scrollIntoViewIfNeeded(limit)

interface DragOnto extends DragPositions {
  readonly source: Locator
  readonly target: Locator
  readonly target_selector: string
}

/** Drags to a target. The drag begins before the page is scrolled to one that is out of view, which moves the source. */
async function dragOnto(
  context: CommandContext,
  { source, target, target_selector, source_position, target_position }: DragOnto,
  limit: CallLimit,
): Promise<void> {
  await source.hover({ ...(source_position && { position: source_position }), ...limit })
  const { page, send } = context
  const drop = { target, selector: target_selector, position: target_position }
  const untilReached = (await isOutOfView(target, target_position, limit))
    ? () => showPoint(target, target_position, limit)
    : await checkDrop(context, drop, limit)
  const from = await actionPoint(source, source_position, limit)
  await send(() => page.mouse.down())
  try {
    await page.mouse.move(from.x + 5, from.y + 5, { steps: 2 })
    // Pages may hide the target for a moment while they prepare for the drag.
    await target.waitFor({ state: 'visible', ...limit })
    await untilReached()
    await moveTo(page, await actionPoint(target, target_position, limit))
  } finally {
    await page.mouse.up()
  }
}

/** Watches a drag of the HTML drag and drop API; `end` returns whether it ended without anything that accepted it. */
async function watchDrag(page: Page): Promise<{ end(): Promise<boolean> }> {
  const seen = await page.evaluateHandle(() => {
    const stop = new AbortController()
    const facts = { ended: false, accepted: false, stop }
    const { signal } = stop
    const end = ({ dataTransfer }: DragEvent) => {
      facts.ended = true
      if (dataTransfer?.dropEffect !== 'none') facts.accepted = true
    }
    addEventListener('dragend', end, { capture: true, signal })
    // After the page's own listeners. The last one is that of the target.
    addEventListener('dragover', (event) => void (facts.accepted = event.defaultPrevented), { signal })
    addEventListener('drop', () => void (facts.accepted = true), { capture: true, signal })
    return facts
  })
  return {
    end: async () => {
      try {
        return await seen.evaluate(({ ended, accepted, stop }) => {
          stop.abort()
          return ended && !accepted
        })
      } catch {
        // The drop has led to another page.
        return false
      }
    },
  }
}

/** Time for a page to draw what a drag has changed, in milliseconds. */
const drawnMs = 500

/** Moves a drag to its end, and rests there as a person does: pages that place the element do so between two moves. */
async function moveTo(page: Page, to: Point): Promise<void> {
  await page.mouse.move(to.x, to.y, { steps: dragSteps })
  await drawn(page)
  await page.mouse.move(to.x, to.y)
  await drawn(page)
}

/** Waits until the page has drawn what a drag has changed. A page that the drag leaves has nothing more to draw. */
const drawn = (page: Page): Promise<void> =>
  withDeadline(
    page.evaluate(twoFrames).catch(() => {}),
    { ms: drawnMs, value: undefined },
  )

/** Runs in the page. */
const twoFrames = () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))

async function dragFromHere({ page, send }: CommandContext, to: Point): Promise<void> {
  await send(() => page.mouse.down())
  try {
    await moveTo(page, to)
  } finally {
    await page.mouse.up()
  }
}

async function holding(page: Page, bits: number, work: () => Promise<void>): Promise<void> {
  const keys = modifierKeys(bits)
  for (const key of keys) await page.keyboard.down(key)
  try {
    await work()
  } finally {
    for (const key of keys.toReversed()) await page.keyboard.up(key)
  }
}

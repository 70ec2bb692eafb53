/** Marks and boxes drawn on the pages of a session, restored after navigations and in new tabs. */
import type { BrowserContext, Frame, Page } from 'playwright'
import type { Overlay } from '../../../core/operation/command.ts'
import type { BoundingBox } from '../../../core/shapes/commands.ts'
import type * as drawing from './overlay.page.ts'
import overlayScript from './overlay.page.ts?inline'
import { inPage, moveToPage } from '../elements/measure.ts'
import { listFunction, pageFunction } from '../page/page-function.ts'
import { hasOpenDialog } from '../page/open-dialogs.ts'
import { unlessGone } from '../page/playwright-errors.ts'
import { evaluateAll, parseSelector } from '../elements/selectors.ts'
import { oncePer } from '../../../core/once-per.ts'

type BoxOptions = Omit<Parameters<Overlay['boxes']>[0], 'enabled'>

interface State {
  clicks: boolean
  boxes: BoxOptions | null
  readonly pages: WeakSet<Page>
  /** Pending redraws after navigations. */
  pending: Promise<unknown>
}

const stateOf = oncePer<BrowserContext, State>(() => ({
  clicks: false,
  boxes: null,
  pages: new WeakSet(),
  pending: Promise.resolve(),
}))

/** Interactive elements, which get boxes when no selector is given. */
const interactive =
  'a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=link], [role=checkbox], [role=tab], [role=menuitem], [role=option], [contenteditable=""], [contenteditable=true], [onclick], [tabindex]:not([tabindex="-1"])'

const setClicks = pageFunction<typeof drawing.clicks>(overlayScript, 'clicks')
const clearBoxes = pageFunction<typeof drawing.clearBoxes>(overlayScript, 'clearBoxes')
const drawBoxes = listFunction<BoundingBox[], Drawing>(overlayScript, 'boxes')

type Drawing = Parameters<typeof drawing.boxes>[1]

/** Returns the overlay of a page, after drawing what is enabled in its session. */
export async function overlayOf(page: Page): Promise<Overlay> {
  const state = stateOf(page.context())
  if ((state.clicks || state.boxes) && !state.pages.has(page)) {
    attach(page, state)
    // A failed redraw must not fail the command.
    state.pending = Promise.all([state.pending, redraw(page, state)]).catch(() => {})
  }
  // The command that answers a dialog cannot wait for the page.
  if (!hasOpenDialog(page)) await state.pending
  return {
    async clicks(enabled) {
      state.clicks = enabled
      attach(page, state)
      await inFrames(page, (frame) => frame.evaluate(setClicks, enabled))
    },
    async boxes({ enabled, ...options }) {
      state.boxes = enabled ? options : null
      attach(page, state)
      if (enabled) return draw(page, options)
      await inFrames(page, (frame) => frame.evaluate(clearBoxes, undefined))
      return []
    },
  }
}

/** Redraws whenever a document of the page is replaced. */
function attach(page: Page, state: State): void {
  if (state.pages.has(page)) return
  state.pages.add(page)
  const queue = (work: () => Promise<unknown>) => {
    // A failed redraw must not fail the next command.
    state.pending = Promise.all([state.pending, work()]).catch(() => {})
  }
  page.on('framenavigated', (frame) => {
    if (state.clicks) queue(() => unlessGone(frame.evaluate(setClicks, true)))
  })
  const onDocument = () => {
    if (state.boxes) queue(() => redraw(page, { clicks: false, boxes: state.boxes }))
  }
  page.on('domcontentloaded', onDocument)
  page.on('load', onDocument)
}

async function redraw(page: Page, { clicks, boxes }: Pick<State, 'clicks' | 'boxes'>): Promise<void> {
  if (clicks) await inFrames(page, (frame) => frame.evaluate(setClicks, true))
  if (boxes) await unlessGone(draw(page, boxes))
}

async function draw(page: Page, { selector, ...options }: BoxOptions): Promise<BoundingBox[]> {
  await inFrames(page, (frame) => frame.evaluate(clearBoxes, undefined))
  if (selector !== undefined) {
    const boxes = await evaluateAll(page, selector, drawBoxes, { ...options, from: 0, visibleOnly: false })
    return inPage(page, parseSelector(selector), boxes)
  }
  const drawn: BoundingBox[] = []
  for (const frame of page.frames()) {
    const drawing = { ...options, limit: options.limit - drawn.length, from: drawn.length, visibleOnly: true }
    if (drawing.limit > 0) drawn.push(...((await unlessGone(drawIn(frame, drawing))) ?? []))
  }
  return drawn
}

async function drawIn(frame: Frame, drawing: Drawing): Promise<BoundingBox[]> {
  const boxes: BoundingBox[] = await frame.locator(interactive).evaluateAll(drawBoxes.all, drawing)
  return frame.parentFrame() && boxes.length > 0 ? moveToPage(frame.locator(':root').first(), boxes) : boxes
}

/** Works on all frames; one that navigates or closes meanwhile is redrawn by its next event. */
async function inFrames(page: Page, work: (frame: Frame) => Promise<unknown>): Promise<void> {
  await Promise.all(page.frames().map((frame) => unlessGone(work(frame))))
}

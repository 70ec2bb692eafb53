/** Measures elements in CSS pixels of the page's viewport, in any frame. */
import type { Locator, Page } from 'playwright'
import type { CommandContext } from '../../../core/operation/command.ts'
import type { BoundingBox } from '../../../core/shapes/commands.ts'
import { limits } from '../../../core/limits/limits.ts'
import { tryOnAll } from '../direct/direct.ts'
import type { ActionContext } from './act.ts'
import measureScript from './measure.page.ts?inline'
import { listFunction } from '../page/page-function.ts'
import {
  evaluateAll,
  isFrameRef,
  locateAll,
  type ParsedSelector,
  parseSelector,
  rootOf,
  selectorInMain,
} from './selectors.ts'

type MeasureOptions = Parameters<CommandContext['measure']>[1]

interface Measured {
  readonly total: number
  readonly boxes: BoundingBox[]
}

const measureAll = listFunction<Measured, MeasureOptions>(measureScript, 'measure')

/** Returns the boxes of the matches of a selector, without waiting for any; if possible without Playwright. */
export async function measure(
  page: Page,
  selector: string,
  options: MeasureOptions,
  { direct, onDirect }: Pick<ActionContext, 'direct' | 'onDirect'>,
): Promise<Measured> {
  const target = { page, selector, query: selectorInMain(locateAll(page, parseSelector(selector))) }
  const measured = direct ? await tryOnAll<Measured>(target, String(measureAll.all), options) : undefined
  if (measured) onDirect()
  if (measured) return measured
  const found = await evaluateAll(page, selector, measureAll, options)
  return { ...found, boxes: await inPage(page, parseSelector(selector), found.boxes) }
}

/** Converts boxes from the coordinates of their frame to those of the page. */
export async function inPage(
  page: Page,
  parsed: ParsedSelector,
  boxes: readonly BoundingBox[],
): Promise<BoundingBox[]> {
  // The frame of a referenced element has no selector.
  const sample = isFrameRef(page, parsed) ? locateAll(page, parsed).first() : rootOf(page, parsed)
  const framed = parsed.frames.length > 0 || isFrameRef(page, parsed)
  return framed && boxes.length > 0 ? moveToPage(sample, boxes) : [...boxes]
}

/** Moves the boxes of a frame by the difference between the page's and the frame's coordinates of one element. */
export async function moveToPage(sample: Locator, boxes: readonly BoundingBox[]): Promise<BoundingBox[]> {
  const timeout = limits.command.elementMs
  const [seen, own] = await Promise.all([
    sample.boundingBox({ timeout }),
    sample.evaluate((element) => (({ x, y }) => ({ x, y }))(element.getBoundingClientRect()), undefined, { timeout }),
  ])
  const [dx, dy] = seen ? [seen.x - own.x, seen.y - own.y] : [0, 0]
  return boxes.map((box) => ({ ...box, x: box.x + dx, y: box.y + dy }))
}

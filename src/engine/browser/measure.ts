/** Boxes of elements in CSS pixels of the page's viewport, whatever frame they are in. */
import type { Locator, Page } from 'playwright'
import type { BoundingBox } from '../../core/command.ts'
import type { MeasuredBox } from './measure.page.ts'
import measureScript from './measure.page.ts?inline'
import { pageFunction } from './page-function.ts'
import { locateAll, type ParsedSelector, selectorFault } from './selectors.ts'

export interface MeasureOptions {
  readonly limit: number
  readonly includeHtml: boolean
}

type Measured = { total: number; boxes: MeasuredBox[] }

const measureAll = pageFunction<Element[], Measured>(measureScript, 'measure') as (
  elements: Element[],
  options: MeasureOptions,
) => Measured

/** Boxes of the matches of a selector; does not wait for any. */
export async function measure(
  page: Page,
  selector: string,
  parsed: ParsedSelector,
  options: MeasureOptions,
): Promise<{ total: number; boxes: BoundingBox[] }> {
  const all = locateAll(page, parsed)
  const found = await all.evaluateAll(measureAll, options).catch((error: unknown) => {
    throw selectorFault(error, selector) ?? error
  })
  const inFrame = parsed.frames.length > 0 || /^f\d/.test(parsed.ref ?? '') || parsed.inner.includes('enter-frame')
  return inFrame ? { ...found, boxes: await inPage(all, found.boxes) } : found
}

/** A frame's own coordinates moved to the page's, by what the first visible element differs in. */
async function inPage(all: Locator, boxes: readonly MeasuredBox[]): Promise<BoundingBox[]> {
  const reference = boxes.find(({ visible }) => visible)
  const seen = reference && (await all.nth(reference.index).boundingBox())
  if (!seen) return [...boxes]
  const [dx, dy] = [seen.x - reference.x, seen.y - reference.y]
  return boxes.map((box) => ({ ...box, x: box.x + dx, y: box.y + dy }))
}

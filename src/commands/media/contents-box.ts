/** The box of what an element without a box of its own shows (`display: contents`). */
import type { Locator } from 'playwright'
import type { z } from 'zod'
import { BaxError } from '../../core/errors/errors.ts'
import type { CallLimit } from '../../core/operation/command.ts'
import type { box } from '../../core/shapes/commands.ts'

type Box = z.output<typeof box>

/**
 * Scrolls to the content of an element with `display: contents`, and returns its box in the viewport of the page;
 * undefined for other elements. @throws BaxError `element_not_visible` when it shows nothing.
 */
export async function contentsBox(element: Locator, selector: string, limit: CallLimit): Promise<Box | undefined> {
  const handle = await element.elementHandle(limit)
  const found = await handle.evaluate(shownBox)
  if (!found) return undefined
  if (found.width === 0 || found.height === 0) {
    throw new BaxError('element_not_visible', `${selector} is not visible: it has no box, and shows nothing`, {
      details: { selector },
    })
  }
  const inside = await handle.ownerFrame()
  if (!inside?.parentFrame()) return found
  const frame = await inside.frameElement()
  await frame.scrollIntoViewIfNeeded(limit)
  const outer = (await frame.boundingBox())!
  const [left, top] = await frame.evaluate((node) => [
    (node as HTMLElement).clientLeft,
    (node as HTMLElement).clientTop,
  ])
  return { ...found, x: found.x + outer.x + left!, y: found.y + outer.y + top! }
}

/** Runs in the page. Self-contained: only the text of the function reaches it. */
function shownBox(node: Node): Box | null {
  const element = node as Element
  if (getComputedStyle(element).display !== 'contents') return null
  const range = document.createRange()
  range.selectNodeContents(element)
  const { top, bottom } = range.getBoundingClientRect()
  const isOutside = bottom > top && (top < 0 || bottom > innerHeight)
  if (isOutside) scrollBy({ top: (top + bottom - innerHeight) / 2, behavior: 'instant' })
  const { x, y, width, height } = range.getBoundingClientRect()
  return { x, y, width, height }
}

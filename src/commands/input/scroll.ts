/** The command that scrolls in a direction. */
import { z } from 'zod'
import { defineCommand } from '../../core/operation/command.ts'
import { limits } from '../../core/limits/limits.ts'
import { number } from '../../core/shapes/fields.ts'
import { elementTimeout, selector } from '../fields.ts'

const distances = {
  up: { x: 0, y: -1 },
  down: { x: 0, y: 1 },
  left: { x: -1, y: 0 },
  right: { x: 1, y: 0 },
}

export const scroll = defineCommand({
  kind: 'action',
  summary: 'Scroll the page or an element',
  positional: [['direction', 'amount']],
  example: ['down 400', "up --selector '#list'"],
  data: z.object({
    direction: z.enum(['up', 'down', 'left', 'right']).describe('Where to scroll'),
    amount: number(1, 1_000_000).optional().describe('CSS pixels; most of the visible part when omitted'),
    selector: selector
      .optional()
      .describe('Element to scroll, or around which to scroll; the page, or what fills it, when omitted'),
    timeout_ms: elementTimeout,
  }),
  result: z
    .object({ x: z.number(), y: z.number(), max_x: z.number(), max_y: z.number() })
    .describe('Position of what was scrolled, and its end'),
  run: async ({ page, act, warn }, { direction, amount, selector, timeout_ms }) => {
    const by = { ...distances[direction], amount: amount ?? null }
    const timeout = timeout_ms ?? limits.command.elementMs
    const { isMoved, ...data } = await (selector === undefined
      ? page.locator(':root').evaluate(scrollBy, by, { timeout })
      : act({ selector, timeout_ms }, 'present', (element, limit) =>
          element.evaluate(scrollBy, by, { timeout: limit.timeout }),
        ))
    const end = by.x === 0 ? data.max_y : data.max_x
    if (!isMoved) warn(end > 0 ? `nothing moved: its end is reached (${direction})` : `nothing can scroll ${direction}`)
    return { data }
  },
})

/**
 * Runs in a page: scrolls the nearest element that can scroll in the direction, from `start` outwards, else the document.
 * Self-contained: only the text of the function reaches the page.
 */
function scrollBy(start: Element, by: { x: number; y: number; amount: number | null }) {
  const document = start.ownerDocument
  const page = document.scrollingElement ?? document.documentElement
  const overflows = (element: Element) => {
    const { overflowX, overflowY } = getComputedStyle(element)
    return by.x === 0
      ? element.scrollHeight > element.clientHeight && /auto|scroll|hidden/.test(overflowY)
      : element.scrollWidth > element.clientWidth && /auto|scroll|hidden/.test(overflowX)
  }
  const pageMoves = by.x === 0 ? page.scrollHeight > page.clientHeight : page.scrollWidth > page.clientWidth
  const isPage = start === document.documentElement
  // Many applications fill the viewport with an element that scrolls.
  const from = isPage && !pageMoves ? document.elementFromPoint(innerWidth / 2, innerHeight / 2) : start
  let scrolled: Element = page
  for (let at: Element | null = isPage && pageMoves ? null : from; at && at !== page;) {
    if (at !== document.body && overflows(at)) {
      scrolled = at
      break
    }
    const root = at.getRootNode()
    at = at.parentElement ?? (root instanceof ShadowRoot ? root.host : null)
  }
  const amount = by.amount ?? 0.9 * (by.x === 0 ? scrolled.clientHeight : scrolled.clientWidth)
  const { scrollLeft, scrollTop } = scrolled
  scrolled.scrollBy({ left: by.x * amount, top: by.y * amount, behavior: 'instant' })
  return {
    isMoved: scrolled.scrollLeft !== scrollLeft || scrolled.scrollTop !== scrollTop,
    x: Math.round(scrolled.scrollLeft),
    y: Math.round(scrolled.scrollTop),
    max_x: scrolled.scrollWidth - scrolled.clientWidth,
    max_y: scrolled.scrollHeight - scrolled.clientHeight,
  }
}

/** Commands that click and move the pointer. */
import { z } from 'zod'
import { integer } from '../core/shapes/fields.ts'
import type { Page } from 'playwright'
import { defineCommand, type Point } from '../core/operation/command.ts'
import { BaxError } from '../core/errors/errors.ts'
import { elementTimeout, modifierKeys, modifiers, pointFields, selector } from './fields.ts'

export * from './drag.ts'

export const click = defineCommand({
  kind: 'action',
  summary: 'Click the middle of an element',
  example: "'#buy'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  input: { kind: 'press', noun: 'click' },
  result: null,
  run: ({ act }, target) => act(target, 'pointer', (element, limit) => element.click(limit)),
})

export const click_at = defineCommand({
  kind: 'action',
  summary: 'Click a position in the viewport',
  example: '120 340',
  data: z.object(pointFields),
  input: { kind: 'press', noun: 'click' },
  result: null,
  run: async ({ page, pointer, send }, { x, y }) => {
    await checkInView(page, { x, y })
    await page.mouse.move(x, y)
    await send(() => page.mouse.down())
    await page.mouse.up()
    Object.assign(pointer, { x, y })
  },
})

/** Chromium accepts clicks outside the viewport but delivers them to nothing. @throws BaxError `invalid_data` */
async function checkInView(page: Page, { x, y }: Point): Promise<void> {
  const { width, height } = await page.evaluate(() => ({ width: innerWidth, height: innerHeight }))
  if (x >= 0 && y >= 0 && x < width && y < height) return
  const viewport = `${width}x${height}`
  const message = `${x},${y} is outside the viewport (${viewport}): scroll there first with scroll_to or scroll_into_view`
  throw new BaxError('invalid_data', message, { details: { x, y, viewport: { width, height } } })
}

export const click_advanced = defineCommand({
  kind: 'action',
  summary: 'Click with another button, click count or modifiers',
  example: "'#row-3' --button right",
  data: z.object({
    selector,
    button: z.enum(['left', 'middle', 'right']).default('left').describe('Mouse button'),
    click_count: integer(1, 10).default(1).describe('Number of clicks; 2 is a double click'),
    modifiers,
    timeout_ms: elementTimeout,
  }),
  input: { kind: 'press', noun: 'click' },
  result: null,
  run: ({ act }, { button, click_count, modifiers, ...target }) => {
    const how = { button, clickCount: click_count, modifiers: modifierKeys(modifiers) }
    return act(target, 'pointer', (element, limit) => element.click({ ...how, ...limit }))
  },
})

export const hover = defineCommand({
  kind: 'action',
  summary: 'Move the pointer over an element',
  example: "'nav .menu'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  input: { kind: 'move', noun: 'hover' },
  result: null,
  run: ({ act }, target) => act(target, 'pointer', (element, limit) => element.hover(limit)),
})

export const move_mouse_to = defineCommand({
  kind: 'action',
  summary: 'Move the pointer to a position',
  also: ['mousemove'],
  example: '400 300 --steps 25',
  data: z.object({
    ...pointFields,
    steps: integer(1, 1000)
      .optional()
      .describe('Points of a human-like path, curved and slow at both ends; when omitted the move is instant'),
  }),
  input: { kind: 'move', noun: 'movement' },
  result: null,
  run: ({ movePointer, send }, { x, y, steps }) => send(() => movePointer({ x, y }, steps)),
})

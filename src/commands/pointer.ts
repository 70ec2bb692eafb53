/** Commands that click and move the pointer. */
import { z } from 'zod'
import { flag, integer } from '../core/shapes/fields.ts'
import type { Locator, Page } from 'playwright'
import { type CallLimit, type CommandContext, defineCommand, type Point } from '../core/operation/command.ts'
import type { DirectElement } from '../core/operation/direct-element.ts'
import { BaxError } from '../core/errors/errors.ts'
import { clickable } from './clickable.ts'
import { sameTextWarning } from './input/same-text.ts'
import { elementTimeout, modifierKeys, modifiers, point, pointFields, selector } from './fields.ts'

export * from './drag.ts'
export * from './input/mouse.ts'
export * from './input/scroll.ts'

export const click = defineCommand({
  kind: 'action',
  summary: 'Click the middle of an element',
  example: ["'#buy'", "'text=Add to cart'", 'ref=e12'],
  data: z.object({ selector, timeout_ms: elementTimeout }),
  input: { kind: 'press', noun: 'click' },
  result: null,
  run: (context, target) => clickOn(context, target, {}),
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
  also: [{ words: 'click', positional: [['selector']] }],
  example: ["'#row-3' --button right", "'#word' --click-count 2"],
  data: z.object({
    selector,
    button: z.enum(['left', 'middle', 'right']).default('left').describe('Mouse button'),
    click_count: integer(1, 10).default(1).describe('Number of clicks; 2 is a double click'),
    count: integer(1, 10).optional().describe('Short form of click_count'),
    new_tab: flag('Hold Ctrl (Cmd on macOS), which opens a link in a new tab'),
    modifiers,
    position: point
      .optional()
      .describe('Where to click, in CSS pixels from the top left of the element; its middle when omitted'),
    timeout_ms: elementTimeout,
  }),
  input: { kind: 'press', noun: 'click' },
  result: null,
  run: (context, { button, click_count, count = click_count, new_tab, modifiers, position, ...target }) => {
    const keys = [...modifierKeys(modifiers), ...(new_tab ? (['ControlOrMeta'] as const) : [])]
    return clickOn(context, target, {
      button,
      clickCount: count,
      ...(keys.length > 0 && { modifiers: keys }),
      ...(position && { position }),
    })
  },
})

type ClickOptions = Pick<
  NonNullable<Parameters<Locator['click']>[0]>,
  'button' | 'clickCount' | 'modifiers' | 'position'
>

/** Clicks on an element; warns when it was found by its text and a control has the same. */
const clickOn = (
  { act, warn }: CommandContext,
  target: Parameters<CommandContext['act']>[0],
  { modifiers, position, ...how }: ClickOptions,
): Promise<void> => {
  const options = { ...how, ...(modifiers && { modifiers }), ...(position && { position }) }
  const click = async (element: Locator, limit: CallLimit) => {
    const [part, warning] = await Promise.all([
      clickable(element, limit),
      sameTextWarning(target.selector, (work, wanted) => element.evaluate(work, wanted, { timeout: limit.timeout })),
    ])
    await part.click({ ...options, ...limit })
    if (warning) warn(warning)
  }
  const direct = async (element: DirectElement) => {
    const warning = await sameTextWarning(target.selector, (work, wanted) => element.evaluate(work, wanted))
    await element.click(how)
    if (warning) warn(warning)
  }
  return act(target, 'pointer', click, {
    enabled: true,
    direct: modifiers || position ? undefined : direct,
  })
}

export const double_click = defineCommand({
  kind: 'action',
  summary: 'Double-click the middle of an element',
  also: ['dblclick'],
  example: "'.cell'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  input: { kind: 'press', noun: 'double click' },
  result: null,
  run: (context, target) => clickOn(context, target, { clickCount: 2 }),
})

export const hover = defineCommand({
  kind: 'action',
  summary: 'Move the pointer over an element',
  example: ["'nav .menu'", 'ref=e12'],
  data: z.object({ selector, timeout_ms: elementTimeout }),
  input: { kind: 'move', noun: 'hover' },
  result: null,
  run: ({ act }, target) =>
    act(target, 'pointer', async (element, limit) => (await clickable(element, limit)).hover(limit), {
      direct: (element) => element.hover(),
    }),
})

export const move_mouse_to = defineCommand({
  kind: 'action',
  summary: 'Move the pointer to a position',
  also: ['mousemove', 'mouse move'],
  example: ['400 300', '400 300 --steps 25'],
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

/** Commands that send single mouse events at the position of the pointer. */
import { z } from 'zod'
import { defineCommand } from '../../core/operation/command.ts'
import { number } from '../../core/shapes/fields.ts'

const button = z.enum(['left', 'middle', 'right']).default('left').describe('Mouse button')

export const mouse_down = defineCommand({
  kind: 'action',
  summary: 'Press a mouse button and hold it',
  also: ['mousedown'],
  positional: [['button']],
  example: '',
  data: z.object({ button }),
  input: { kind: 'press', noun: 'button press' },
  result: null,
  run: ({ page, send }, how) => send(() => page.mouse.down(how)),
})

export const mouse_up = defineCommand({
  kind: 'action',
  summary: 'Release a mouse button',
  also: ['mouseup'],
  positional: [['button']],
  example: '',
  data: z.object({ button }),
  input: { kind: 'press', noun: 'button release' },
  result: null,
  run: ({ page, send }, how) => send(() => page.mouse.up(how)),
})

const distance = number(-100_000, 100_000)

export const mouse_wheel = defineCommand({
  kind: 'action',
  summary: 'Turn the mouse wheel',
  also: ['mousewheel'],
  positional: [['delta_x', 'delta_y']],
  example: '0 400',
  data: z.object({
    delta_x: distance.default(0).describe('CSS pixels to the right'),
    delta_y: distance.describe('CSS pixels down'),
  }),
  input: { kind: 'move', noun: 'wheel movement' },
  result: null,
  run: ({ page, send }, { delta_x, delta_y }) => send(() => page.mouse.wheel(delta_x, delta_y)),
})

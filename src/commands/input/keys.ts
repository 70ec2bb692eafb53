/** Commands that send single keyboard events to the focused element. */
import { z } from 'zod'
import { defineCommand } from '../../core/operation/command.ts'
import { limits } from '../../core/limits/limits.ts'
import { key, keyName, pressed, submits } from './key-names.ts'

const oneKey = key.describe('A character, or a key such as Shift, Control, Enter, ArrowDown')

export const key_down = defineCommand({
  kind: 'action',
  summary: 'Press a key and hold it',
  also: ['keydown'],
  example: 'Shift',
  data: z.object({ key: oneKey }),
  input: { kind: 'text', noun: 'key press' },
  maySubmit: (data) => submits(String(data['key'])),
  result: null,
  run: ({ page, send }, { key }) => send(() => pressed(page.keyboard.down(keyName(key)), key, page.keyboard)),
})

export const key_up = defineCommand({
  kind: 'action',
  summary: 'Release a key',
  also: ['keyup'],
  example: 'Shift',
  data: z.object({ key: oneKey }),
  input: { kind: 'text', noun: 'key release' },
  maySubmit: (data) => submits(String(data['key'])),
  result: null,
  run: ({ page, send }, { key }) => send(() => pressed(page.keyboard.up(keyName(key)), key, page.keyboard)),
})

export const insert_text = defineCommand({
  kind: 'action',
  summary: 'Insert text at the caret, without key events',
  example: "'hello'",
  data: z.object({ text: z.string().min(1).max(limits.input.typedChars).describe('Text for the focused element') }),
  input: { kind: 'text', noun: 'text' },
  result: null,
  run: ({ page, send }, { text }) => send(() => page.keyboard.insertText(text)),
})

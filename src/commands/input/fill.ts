/** The command that sets the text of a field at once. */
import { z } from 'zod'
import { defineCommand } from '../../core/operation/command.ts'
import { limits } from '../../core/limits/limits.ts'
import { elementTimeout, selector } from '../fields.ts'
import { fillField } from './fill-field.ts'

export const fill = defineCommand({
  kind: 'action',
  summary: 'Set the text of a field at once',
  example: ["'#email' me@example.com", 'ref=e12 tea'],
  data: z.object({
    selector,
    text: z.string().max(limits.input.typedChars).describe('Text that replaces the content; empty to clear the field'),
    timeout_ms: elementTimeout,
  }),
  input: { kind: 'text', noun: 'text' },
  result: null,
  run: (context, { text, ...target }) => fillField(context, target, text),
})

/** The command that sets the text of a field at once. */
import { z } from 'zod'
import { credentialReference } from '../../core/access/credentials.ts'
import { defineCommand } from '../../core/operation/command.ts'
import { limits } from '../../core/limits/limits.ts'
import { elementTimeout, selector } from '../fields.ts'
import { fillField } from './fill-field.ts'

export const fill = defineCommand({
  kind: 'action',
  summary: 'Set the text of a field at once',
  positional: [['selector', 'text'], ['selector']],
  example: ["'#email' me@example.com", 'ref=e12 tea', "--credential shop.password '#password'"],
  data: z
    .object({
      selector,
      text: z
        .string()
        .max(limits.input.typedChars)
        .optional()
        .describe('Text that replaces the content; empty to clear the field'),
      credential: credentialReference
        .optional()
        .describe('In place of a text: NAME.username, NAME.password or NAME.totp of a stored credential'),
      timeout_ms: elementTimeout,
    })
    .refine(({ text, credential }) => (text === undefined) !== (credential === undefined), {
      message: 'needs either text or credential',
    }),
  input: { kind: 'text', noun: 'text' },
  result: null,
  run: (context, { text, credential: reference, ...target }) => {
    if (reference === undefined) return fillField(context, target, text!)
    const field = { selector: target.selector, reference }
    return context.act(target, 'editable', (element, limit) => context.credentials.fill(element, field, limit))
  },
})

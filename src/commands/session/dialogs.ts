/** The command that answers dialogs of a page. */
import { z } from 'zod'
import { defineCommand } from '../../core/operation/command.ts'
import { limits } from '../../core/limits/limits.ts'
import { dialogTypes } from '../../core/shapes/dialogs.ts'

export const answer_dialog = defineCommand({
  kind: 'action',
  summary: 'Answer the open dialog, or the next one',
  also: [
    { words: 'dialog accept', data: { accept: true }, positional: [[], ['text']] },
    { words: 'dialog dismiss', data: { accept: false }, positional: [[]] },
  ],
  example: ['true', "true --text 'my answer'", 'false'],
  data: z
    .object({
      accept: z.boolean().describe('true for OK, false for Cancel'),
      text: z
        .string()
        .max(limits.dialog.textChars)
        .optional()
        .describe('Text to enter in a prompt; its preset text when omitted'),
    })
    .refine(({ accept, text }) => accept || text === undefined, {
      path: ['text'],
      error: 'text needs accept to be true',
    }),
  worksDuringDialog: true,
  result: z.object({
    answered: z
      .boolean()
      .describe('false: no dialog is open, and the answer is kept for the next one of the types in kept_for'),
    kept_for: z
      .array(z.enum(dialogTypes))
      .optional()
      .describe(
        'Types of dialogs that the kept answer is for: it answers one of them, whenever it opens in the session',
      ),
    type: z.enum(dialogTypes).optional().describe('Type of the answered dialog'),
    message: z.string().optional().describe('Its message'),
    replaced: z.literal(true).optional().describe('The answer replaces an earlier one that was not used'),
  }),
  run: async ({ answerDialog }, answer) => ({ data: { ...(await answerDialog(answer)) } }),
})

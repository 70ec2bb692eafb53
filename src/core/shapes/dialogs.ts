/** Shapes of dialogs in results and events. */
import { z } from 'zod'

export const dialogTypes = ['alert', 'confirm', 'prompt', 'beforeunload'] as const

export const answeredBy = z
  .enum(['setting', 'answer_dialog', 'client', 'person'])
  .describe("The session's setting, a command, a CDP client, or a person in the live view or the relayed browser")

export type AnsweredBy = z.output<typeof answeredBy>

/** Fields of every dialog. */
export const dialogFacts = {
  type: z.string().describe('alert, confirm, prompt, beforeunload; dialog for one within the page'),
  kind: z.string().describe('Earlier name of type'),
  message: z.string(),
}

/** A dialog that opened during a command. */
export const commandDialog = z.object({
  type: z.enum(dialogTypes),
  message: z.string().describe('At most 1000 characters'),
  answer: z.enum(['accepted', 'dismissed', 'open']).describe('open: it waits for answer_dialog'),
  answered_by: answeredBy.optional().describe('Absent while it is open'),
})

export type CommandDialog = z.output<typeof commandDialog>

/** Commands that read and write the clipboard of the session. */
import { z } from 'zod'
import { limits } from '../../core/limits/limits.ts'
import { defineCommand, extracted } from '../../core/operation/command.ts'
import { extraction } from '../fields.ts'

export const read_clipboard = defineCommand({
  kind: 'extraction',
  summary: "Get the text in the session's clipboard",
  also: ['clipboard read'],
  example: '',
  data: z.object({}),
  worksDuringDialog: true,
  result: extraction(z.string(), ['string']).describe('Empty when nothing was copied'),
  run: async ({ clipboard }) => extracted(clipboard().read()),
})

export const write_clipboard = defineCommand({
  kind: 'action',
  summary: "Put a text in the session's clipboard",
  also: ['clipboard write'],
  example: "'some text'",
  data: z.object({ text: z.string().max(limits.clipboard.chars).describe('Text that pages paste from now on') }),
  worksDuringDialog: true,
  result: null,
  run: async ({ clipboard }, { text }) => clipboard().write(text),
})

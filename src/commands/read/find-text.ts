/** The command that finds text in the observation of a page. */
import { z } from 'zod'
import { defineCommand, extracted } from '../../core/operation/command.ts'
import { limits } from '../../core/limits/limits.ts'
import { flag, integer } from '../../core/shapes/fields.ts'
import { extraction, selector } from '../fields.ts'
import { containing } from '../wait/page-text.ts'

const found = z.object({
  text: z.string().describe('Name or text on one line, as in an observation'),
  role: z.string(),
  ref: z.string().nullable().describe('Reference of the element, or of the nearest one around the text'),
})

export const find_text = defineCommand({
  kind: 'extraction',
  summary: 'Find text on the page, with references',
  table: { columns: ['ref', 'role', 'text'] },
  also: ['find'],
  example: ['Basket', "'total: [0-9]+' --regex"],
  data: z.object({
    text: z
      .string()
      .min(1)
      .max(limits.input.labelChars)
      .describe('Text, in upper or lower case; with regex, an RE2 regular expression such as "(?i)total: \\d+"'),
    regex: flag('Read text as a regular expression'),
    selector: selector.optional().describe('Element to search; the whole page when omitted'),
    limit: integer(1, 10_000).default(50).describe('Maximum number of matches, in document order'),
  }),
  result: extraction(z.array(found), ['array']).extend({ total: z.int().describe('Number of all matches') }),
  run: async ({ findTexts, matcher }, { text, regex, selector, limit }) => {
    const all = await findTexts(regex ? matcher({ regex: text }, 'text') : containing(text), selector)
    const { content_type, data } = extracted(all.slice(0, limit))
    return { content_type, data: { ...data, total: all.length } }
  },
})

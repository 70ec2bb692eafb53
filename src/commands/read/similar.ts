/** The command that finds elements by a fingerprint. */
import { z } from 'zod'
import { defineCommand } from '../../core/operation/command.ts'
import { candidate, fingerprint } from '../../core/shapes/recording.ts'
import { selector } from '../fields.ts'

export const find_similar = defineCommand({
  kind: 'extraction',
  summary: 'Find the elements that fit a recorded fingerprint best',
  example: `'#buy' '{"tag":"button","name":"Buy"}'`,
  data: z.object({
    selector: selector.describe('Recorded selector, whose frame is searched; nth= in it requires the same position'),
    fingerprint: fingerprint.describe('Facts of the element, as a recording contains them'),
  }),
  result: z.object({
    candidates: z.array(candidate).describe('Elements that fit about equally well; one is unambiguous'),
  }),
  run: async ({ findSimilar }, { selector, fingerprint }) => ({
    content_type: 'data',
    data: { candidates: await findSimilar(selector, fingerprint) },
  }),
})

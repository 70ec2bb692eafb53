/** Fields that several commands share. */
import { z } from 'zod'
import { limits } from '../core/limits/limits.ts'
import { duration, integer, number, selectorText, withoutNul } from '../core/shapes/fields.ts'

export const selector = selectorText.describe(
  'Element, the first visible match: CSS (pierces open shadow roots), text=…, role=…, label=…, xpath=…, ref=e12 or @e12 from an observation, frame=<css> >> … for an iframe',
)

export const timeoutMs = duration(0, limits.command.maxMs)

/** Maximum time that an action waits for its element; an addition to the specified interface. */
export const elementTimeout = timeoutMs
  .optional()
  .describe(`Timeout for the element in milliseconds, ${limits.command.elementMs} when omitted; 0 tries once`)

const coordinate = number(-100_000, 100_000)

/** A position in the viewport. */
export const pointFields = {
  x: coordinate.describe('CSS pixels from the left of the viewport'),
  y: coordinate.describe('CSS pixels from the top of the viewport'),
}

export const point = z
  .object({ x: coordinate, y: coordinate })
  .meta({ spelling: { form: 'X,Y', fields: ['x', 'y'], separator: ',' } })

export const modifiers = integer(0, 15)
  .default(0)
  .describe('Sum of the modifier keys to hold: Alt 1, Ctrl 2, Meta 4, Shift 8')

/** Builds the shape of `data` of an extraction. */
export const extraction = (value: z.ZodType, types: readonly string[]) =>
  z.object({ result: z.object({ type: z.enum(types as [string, ...string[]]), value }) })

/** Returns Playwright's names of the modifier keys in a bit field. */
export const modifierKeys = (bits: number): ('Alt' | 'Control' | 'Meta' | 'Shift')[] =>
  (['Alt', 'Control', 'Meta', 'Shift'] as const).filter((_, bit) => bits & (1 << bit))

/** Path that a command also saves its result to. */
export const resultPath = withoutNul(z.string().min(1).max(limits.files.pathBytes))
  .optional()
  .meta({ writes: true })
  .describe("Path to also save the result to; a relative one is in the session's files, as all are on a server")

export const savedPath = z.string().optional().describe('Absolute path of the saved file; on a server its name')

/** Commands that emulate devices, preferences, places and network conditions, and prepare pages. */
import { z } from 'zod'
import { limits } from '../../core/limits/limits.ts'
import { defineCommand, extracted } from '../../core/operation/command.ts'
import { isLanguageTag, isTimeZone } from '../../core/shapes/regions.ts'
import { flag, identifier, integer, number, printable } from '../../core/shapes/fields.ts'
import { extraction } from '../fields.ts'
import { requestHeaders } from './header-fields.ts'

const { minSide, maxSide, maxScale } = limits.emulation
const side = integer(minSide, maxSide)
const scale = number(0.1, maxScale)

const settings = z.object({
  device: z.string().optional(),
  viewport: z.object({ width: z.int(), height: z.int() }).optional(),
  scale: z.number().optional(),
  mobile: z.boolean().optional(),
  touch: z.boolean().optional(),
  color_scheme: z.string().optional(),
  reduced_motion: z.string().optional(),
  contrast: z.string().optional(),
  forced_colors: z.string().optional(),
  media: z.string().optional(),
  geolocation: z.object({ latitude: z.number(), longitude: z.number(), accuracy: z.number() }).optional(),
  locale: z.string().optional(),
  timezone: z.string().optional(),
  offline: z.boolean().optional(),
  headers: z.record(z.string(), z.string()).optional().describe('Secrets are redacted'),
  credentials: z
    .object({ username: z.string(), password: z.string().describe('Redacted'), origin: z.string().optional() })
    .optional(),
  user_agent: z.string().optional(),
})

const inForce = z.object({
  emulation: settings.describe("Settings in force; absent ones are the browser's own"),
})

export const set_viewport = defineCommand({
  kind: 'action',
  summary: 'Set the size of the viewport in all tabs',
  also: ['resize', 'set viewport'],
  positional: [
    ['width', 'height'],
    ['width', 'height', 'scale'],
  ],
  example: ['390 844', '390 844 --scale 3'],
  data: z.object({
    width: side.describe('CSS pixels'),
    height: side.describe('CSS pixels'),
    scale: scale.optional().describe('Device pixels per CSS pixel; unchanged when omitted'),
  }),
  result: inForce,
  run: async ({ emulation }, { width, height, scale }) => ({
    data: { emulation: await emulation.apply({ viewport: { width, height }, scale }) },
  }),
})

const text = printable(limits.input.labelChars)

const emulateFields = z.object({
  device: text.min(1).optional().describe('Name of a Playwright device: viewport, scale, touch and user agent'),
  color_scheme: z.enum(['light', 'dark', 'no-preference']).optional().describe('Preferred color scheme'),
  reduced_motion: z.enum(['reduce', 'no-preference']).optional().describe('Preference for less motion'),
  contrast: z.enum(['more', 'no-preference']).optional().describe('Preference for more contrast'),
  forced_colors: z.enum(['active', 'none']).optional().describe('Colors forced by the system'),
  media: z.enum(['screen', 'print']).optional().describe('CSS media type'),
  latitude: number(-90, 90).optional().describe('Position in degrees, with longitude'),
  longitude: number(-180, 180).optional().describe('Position in degrees, with latitude'),
  accuracy: number(0, 1e7).optional().describe('Accuracy of the position in meters, 0 when omitted'),
  locale: text.refine(isLanguageTag, 'is not a BCP 47 language tag').optional().describe('Language, such as de-DE'),
  timezone: text.refine(isTimeZone, 'is not an IANA time zone').optional().describe('Time zone, such as Europe/Berlin'),
  offline: z.boolean().optional().describe('Whether pages have no network'),
  headers: requestHeaders.optional().describe('Headers for every request, as an object; {} for none'),
  username: text.min(1).optional().describe('User name for HTTP authentication, with password'),
  password: text.optional().describe('Password for HTTP authentication'),
  credentials_origin: z
    .url({ protocol: /^https?$/ })
    .max(limits.input.labelChars)
    .optional()
    .describe('Origin that gets the credentials; any that asks when omitted'),
  user_agent: text.min(1).optional().describe('User agent'),
  reset: flag('Undo all emulation first, including the viewport'),
})

/** Pairs of fields of which neither works alone. */
const pairs = [
  ['latitude', 'longitude'],
  ['longitude', 'latitude'],
  ['accuracy', 'latitude'],
  ['username', 'password'],
  ['password', 'username'],
  ['credentials_origin', 'username'],
] as const

export const emulate = defineCommand({
  kind: 'action',
  summary: 'Emulate a device, preferences, location or network',
  also: [
    { words: 'set device', positional: [['device']] },
    {
      words: 'set geo',
      positional: [
        ['latitude', 'longitude'],
        ['latitude', 'longitude', 'accuracy'],
      ],
    },
    { words: 'set offline', data: { offline: true }, positional: [[], ['offline']] },
    { words: 'set headers', positional: [['headers']] },
    { words: 'set media', positional: [['media'], ['color_scheme'], ['color_scheme', 'reduced_motion']] },
    { words: 'set credentials', positional: [['username', 'password']] },
  ],
  positional: [[]],
  example: ["--device 'iPhone 15'", '--color-scheme dark --locale de-DE', '--offline', '--reset'],
  data: emulateFields.superRefine((fields, context) => {
    for (const [field, other] of pairs) {
      if (fields[field] !== undefined && fields[other] === undefined)
        context.addIssue({ code: 'custom', path: [field], message: `needs ${other}` })
    }
  }),
  result: inForce,
  prints: 'emulation',
  run: async ({ emulation }, fields) => {
    const { latitude, longitude, accuracy = 0, username, password, credentials_origin, ...rest } = fields
    const origin = credentials_origin && new URL(credentials_origin).origin
    const inForce = await emulation.apply({
      ...rest,
      ...(latitude !== undefined && longitude !== undefined && { geolocation: { latitude, longitude, accuracy } }),
      ...(username !== undefined &&
        password !== undefined && { credentials: { username, password, ...(origin && { origin }) } }),
    })
    return { data: { emulation: inForce } }
  },
})

export const add_init_script = defineCommand({
  kind: 'action',
  summary: 'Run a script before every page loads',
  also: ['addinitscript'],
  example: "'window.isTest = true'",
  data: z.object({
    script: z
      .string()
      .min(1)
      .max(limits.initScripts.chars)
      .describe('JavaScript to run in every new document and frame, before its own scripts')
      .meta({ file: 'text' }),
  }),
  result: z.object({ script_id: z.string().describe('ID for remove_init_script, such as script_1') }),
  prints: 'script_id',
  run: async ({ initScripts }, { script }) => ({ data: { script_id: await initScripts.add(script) } }),
})

export const remove_init_script = defineCommand({
  kind: 'action',
  summary: 'Remove an init script, or all of them',
  also: ['removeinitscript'],
  positional: [['script_id'], []],
  example: '--script-id script_1',
  data: z.object({ script_id: identifier.optional().describe('ID of the script; all scripts when omitted') }),
  result: z.object({ removed: z.array(z.string()).describe('IDs of the removed scripts') }),
  run: async ({ initScripts }, { script_id }) => ({ data: { removed: await initScripts.remove(script_id) } }),
})

const metric = z.object({ value: z.number(), rating: z.enum(['good', 'needs-improvement', 'poor']) }).nullable()

export const get_vitals = defineCommand({
  kind: 'extraction',
  summary: 'Measure the Core Web Vitals of the document',
  also: ['vitals'],
  example: '',
  data: z.object({}),
  result: extraction(
    z.object({
      url: z.string(),
      lcp: metric.describe('Largest Contentful Paint in milliseconds; null while there is none'),
      cls: metric.describe('Cumulative Layout Shift, a score'),
      inp: metric.describe('Interaction to Next Paint in milliseconds; null without interactions of at least 16 ms'),
      ttfb: metric.describe('Time to First Byte in milliseconds'),
      fcp: metric.describe('First Contentful Paint in milliseconds'),
    }),
    ['object'],
  ),
  run: async ({ vitals }) => extracted(await vitals()),
})

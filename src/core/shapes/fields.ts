/** Building blocks of shapes. Short texts from callers are restricted so that they are safe in headers, logs and paths. */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { parseHostPattern } from '../net/host-pattern.ts'

const { input } = limits

/** Control characters, line separators, and direction overrides of bidirectional text. */
const invisible = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069'
const printablePattern = new RegExp(`^[^${invisible}]*$`)
/** Pasted URLs may contain line breaks and tabs, which the URL standard removes. */
const urlPattern = new RegExp(`^[^${invisible.replace('\\u001f', '\\u0008\\u000b\\u000c\\u000e-\\u001f')}]*$`)
const nulPattern = /^[^\0]*$/

/** One line of text, e.g. for a header, a list, a log or a message. May be empty. */
export const printable = (most: number) =>
  z.string().max(most, { abort: true }).regex(printablePattern, 'must not contain control characters')

/** Characters of a text without a limit of its own: patterns of repetitions throw a RangeError at several millions. */
export const longestText = 4_000_000

/** Text that becomes an argument, a variable or a path, where a NUL would end it. */
export const withoutNul = (schema: z.ZodString = z.string()) =>
  schema.max(longestText, { abort: true }).regex(nulPattern, 'must not contain a NUL character')

/** A human-readable name. `.` and `..` would be interpreted in a URL path. */
export const displayName = printable(100)
  .min(1)
  .regex(/^(?!\.{1,2}$)/, 'must not be . or ..')

/** An ID created by bax, or a name used in its place. */
export const identifier = printable(input.nameChars).min(1)

/** A UUID in its usual form, which is an ID and never a name. */
export const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** A token or a cursor created by bax. */
export const opaqueText = printable(input.tokenChars)

/** A URL as people type it; whether it may be opened is checked later. */
export const urlText = z
  .string()
  .min(1)
  .max(input.urlChars, { abort: true })
  .regex(urlPattern, 'must not contain control characters')

/** `@e12` at the start of a selector, the short form of `ref=e12`. */
const shortRef = /^\s*@((?:f\d+)?e\d+)(?=\s*(?:>>|$))/

/** `overwrite` keeps the schema a string in documents. */
export const selectorText = z
  .string()
  .min(1)
  .max(input.selectorChars)
  .overwrite((selector) => selector.replace(shortRef, 'ref=$1'))

export const integer = (least: number, most: number) => z.int().min(least).max(most)

/** A time in milliseconds or seconds. Fractions are rounded up, since 0 often means that there is no limit. */
export const duration = (least: number, most: number) => z.number().min(least).max(most).overwrite(Math.ceil)

export const number = (least: number, most: number) => z.number().min(least).max(most)

/** A list of names, such as formats, kinds and hosts. */
export const listOf = <Item extends z.ZodType>(item: Item) => z.array(item).max(input.names)

/** Hosts that may be connected to. */
export const allowedDomains = listOf(
  z
    .string()
    .max(255, { abort: true })
    .refine((text) => parseHostPattern(text) !== undefined, 'is not a host such as example.com or *.example.com'),
)
  .min(1)
  .optional()
  .describe(
    'Hosts that may be connected to, such as example.com or *.example.com, which includes example.com; a port is optional. Other requests are blocked',
  )

/** An option that is off by default. */
export const flag = (description: string) => z.boolean().default(false).describe(description)

/** An object that documents list under its name. */
export const named = <Shape extends z.ZodRawShape>(id: string, shape: Shape) => z.object(shape).meta({ id })

/** Events of one type; `seq` describes their numbers. */
export const oneEventOf = <Type extends string, Data extends z.ZodType>(type: Type, data: Data, seq: string) =>
  z.object({ seq: z.int().describe(seq), ts: z.iso.datetime(), type: z.literal(type), data })

type EventsOf<DataByType extends Readonly<Record<string, z.ZodType>>> = {
  [Type in keyof DataByType & string]: ReturnType<typeof oneEventOf<Type, DataByType[Type]>>
}[keyof DataByType & string]

/** Events with their data by type; `seq` describes their numbers. */
export const eventOf = <DataByType extends Readonly<Record<string, z.ZodType>>>(
  dataByType: DataByType,
  seq: string,
) => {
  const members: unknown = Object.entries(dataByType).map(([type, data]) => oneEventOf(type, data, seq))
  return z.discriminatedUnion('type', members as [EventsOf<DataByType>, ...EventsOf<DataByType>[]])
}

/** All public operations. Server, client, CLI and documents are generated from these lists. */
import * as families from './families.ts'

type Families = typeof families
type With<Field extends string> = {
  [Name in keyof Families as Families[Name] extends Record<Field, unknown> ? Name : never]: Families[Name]
}

/** Selects the exports that have a field, in alphabetical order. */
const having = <Field extends string>(field: Field): With<Field> =>
  Object.fromEntries(
    Object.entries(families)
      .filter(([, value]) => field in value)
      .toSorted(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)),
  ) as With<Field>

export const operations = having('run')

/** Operations with a response in frames. */
export const streams = having('frame')

/** Operations with a response or body of raw bytes. */
export const transfers = { ...having('mediaType'), ...having('receive') }

/** Operations that continue as a websocket. */
export const sockets = having('messageBytes')

export type Operations = typeof operations
export type Streams = typeof streams
export type Transfers = typeof transfers

/** Jobs on applications, which sessions do and their scripts repeat. */
import type { ServedApplication } from './debian-php.ts'
import type { Driver, DriverName } from './session-drivers.ts'

export interface Job<App> {
  readonly title: string
  readonly by: DriverName
  /** Whether it is one of the usual run. */
  readonly usual?: true
  use(driver: Driver, app: App): Promise<void>
  /** Returns what the application has stored. */
  stored(app: App): Promise<unknown>
  readonly expected: unknown
}

export interface Subject<App extends ServedApplication> {
  readonly name: string
  start(): Promise<App>
  readonly jobs: readonly Job<App>[]
}

const rows = Array.from({ length: 45 }, (_, at) => `(${at + 100}, 'Tea ${at + 1}', ${at})`)
/** Statements that create a table with 45 rows. */
export const teas = `create table teas (id integer primary key, name text, price integer); insert into teas values ${rows}`

/** Image in PNG format. */
export const leaf = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

/** All public operations. Server, client, CLI and documents are generated from these lists. */
import * as cdp from './browser/cdp.ts'
import * as cdpDiscovery from './browser/cdp-discovery.ts'
import * as events from './browser/events.ts'
import * as liveView from './browser/live-view.ts'
import * as observe from './browser/observe.ts'
import * as profiles from './browser/profiles.ts'
import * as provisioning from './browser/provisioning.ts'
import * as relay from './browser/relay.ts'
import * as runCommands from './browser/run-commands.ts'
import * as diagnostics from './browser/session-diagnostics.ts'
import * as sessions from './browser/sessions.ts'
import * as browserSockets from './browser/sockets.ts'
import * as crawl from './crawl.ts'
import * as engine from './engine.ts'
import * as keys from './keys.ts'
import * as health from './health.ts'
import * as scrape from './scrape.ts'
import * as search from './search.ts'
import * as shellArtifacts from './shell/shell-artifacts.ts'
import * as shellExec from './shell/shell-exec.ts'
import * as shellFiles from './shell/shell-files.ts'
import * as shellImages from './shell/shell-images.ts'
import * as shellSessions from './shell/shell-sessions.ts'
import * as shellTransfers from './shell/shell-transfers.ts'
import * as crawlV2 from './v2/crawl.ts'
import * as mapV2 from './v2/map.ts'
import * as scrapeV2 from './v2/scrape.ts'
import * as searchV2 from './v2/search.ts'

/** Exports of all families; the name of an export is the name of the operation. */
const families = {
  ...cdp,
  ...cdpDiscovery,
  ...events,
  ...liveView,
  ...observe,
  ...profiles,
  ...provisioning,
  ...relay,
  ...runCommands,
  ...diagnostics,
  ...sessions,
  ...browserSockets,
  ...crawl,
  ...engine,
  ...keys,
  ...health,
  ...scrape,
  ...search,
  ...shellArtifacts,
  ...shellExec,
  ...shellFiles,
  ...shellImages,
  ...shellSessions,
  ...shellTransfers,
  ...crawlV2,
  ...mapV2,
  ...scrapeV2,
  ...searchV2,
}

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

/** The engine: browsers, sessions, extraction, crawls, relay and shells behind one interface. */
import { setFlagsFromString } from 'node:v8'
import type { EngineConfig } from '../core/config/config.ts'
import type { Engine, Handoffs, Profiles } from '../core/engine.ts'
import { BaxError } from '../core/errors/errors.ts'
import { newId } from '../core/ids.ts'
import type { ProfileStore as SavedProfiles } from '../core/stores.ts'
import { version } from '../core/version.ts'
import { makeBatchTools } from './batch-tools.ts'
import { withValidatedSchemas } from './checked-schemas.ts'
import { approvalsOf } from './browser/approvals/approvals.ts'
import { readStorage } from './browser/session/save-profile.ts'
import { BrowserSessions } from './browser/session/sessions.ts'
import { KeyShares } from './browser/shares/key-shares.ts'
import { fileAccess } from './browser/session/file-access.ts'
import { SessionDiagnostics } from './browser/session/trace.ts'
import { lazyCode } from './code/lazy-code.ts'
import { lazyCrawls } from './crawl/lazy-crawls.ts'
import { Egress } from './egress/egress.ts'
import { readinessOf } from './readiness.ts'
import type { Names } from '../core/access/relayed.ts'
import type { RelaysOptions } from './relay/hub/relays.ts'
import { lazyRelays, withRelay } from './relay/lazy-relays.ts'
import { lazyRequests, withSessions } from './request/lazy-requests.ts'
import { lazyScraper, type LazyScraper } from './scrape/lazy-scraper.ts'
import type { SearchContext } from './search/web-search.ts'
import { lazyShells } from './shell/lazy-shells.ts'
import { KeyStore } from './store/keys.ts'
import { CredentialVault } from './store/credentials.ts'
import { ProfileStore } from './store/profiles.ts'

/** Creates an engine; nothing starts before it is needed. */
export function createEngine(config: EngineConfig): Engine & { readonly extractor: LazyScraper } {
  // Makes V8 collect garbage when its heap has doubled. By default it waits until the heap has quadrupled, which lets
  // finished pages of a large crawl pile up (`npm run bench -- crawl`: node at 154 to 240 MB over 10 000 pages, with this
  // at 165 to 181). Applies to the whole process, including worker threads. A server, whose start may take longer, does
  // so when its heap has grown by half: 233 in place of 254 MB for a crawl of 3 000 pages, in the same processor time.
  setFlagsFromString(`--heap-growing-percent=${config.home === 'server' ? 50 : 100}`)
  const { search = {}, proxies, log, verifyTls } = config
  const { keys, profiles, credentials } = storesOf(config)
  const tools = makeBatchTools(config)
  const [egress, shares, names] = [new Egress(config), new KeyShares(config), namesOf(() => relays)]
  const sessions = new BrowserSessions({ config, egress, profiles, credentials, keys, tools, shares, relays: names })
  const extractor = lazyScraper(config, egress, shares)
  const crawls = lazyCrawls(config, extractor, keys)
  const botKey = async () => (await import('./store/bot-key.ts')).readBotKey(config)
  const live: SearchContext['live'] = (idOrName, caller) => sessions.live(idOrName, caller)
  const searching: SearchContext = { config: search, proxies, log, verifyTls, scraper: extractor, live }
  const relays = lazyRelays(config, keys, withCalls(sessions))
  const shell = lazyShells(config, keys)
  const identity = {
    engine_id: newId('eng'),
    version,
    home: config.home,
    pid: process.pid,
    started_at: new Date().toISOString(),
    socket: config.listensOn ?? null,
  }
  let closing: Promise<void> | undefined
  return {
    keys,
    ...withSessions({ scraper: extractor, crawls }, { botKey, verifyTls }, sessions, relays),
    searcher: {
      search: async (input, call) => (await import('./search/web-search.ts')).searchWeb(searching, input, call),
    },
    requests: lazyRequests({ egress, profiles, botKey, verifyTls }, sessions, relays),
    botDirectory: async () => (await botKey())?.directory(),
    code: lazyCode(keys, log),
    relays,
    sessions: withValidatedSchemas(withRelay(sessions, relays)),
    approvals: approvalsOf(sessions),
    handoffs: lazyHandoffs(sessions, { egress, webhookSecret: config.webhookSecret }),
    shells: shell.shells,
    diagnostics: new SessionDiagnostics(live, sessions.recorded),
    files: fileAccess(sessions, relays),
    profiles: profilesOf(profiles, sessions),
    credentials,
    status: async () => ({ ...identity, ...statusOf({ sessions, extractor, crawls, relays, shell, egress }) }),
    readiness: readinessOf(config, egress, () => sessions.pool.status().some(({ responsive }) => responsive)),
    stop: async () => stopFromRequest(config),
    endAll: async () => void (await Promise.all([sessions.endAll(), relays.endAll(), shell.endAll()])),
    close: () =>
      (closing ??= Promise.all([
        sessions.shutDown(),
        crawls.close().then(() => extractor.close()),
        relays.close(),
        shell.close(),
      ]).then(() => egress.close())),
  }
}

interface Counted {
  readonly sessions: BrowserSessions
  readonly extractor: LazyScraper
  readonly crawls: ReturnType<typeof lazyCrawls>
  readonly relays: ReturnType<typeof lazyRelays>
  readonly shell: ReturnType<typeof lazyShells>
  readonly egress: Egress
}

const statusOf = ({ sessions, extractor, crawls, relays, shell, egress }: Counted) => ({
  sessions: sessions.count,
  provisions: sessions.provisioning,
  shells: shell.count(),
  execs: shell.running(),
  relays: relays.count(),
  crawls: crawls.count,
  queues: { sessions: sessions.provisioning, pages: extractor.waiting, commands: sessions.waitingBatches },
  egress_refused: egress.policy.refused,
  browsers: sessions.pool.status(),
  memory_bytes: process.memoryUsage.rss(),
})

/** Returns the stores of a fleet, else those in the state folder. */
const storesOf = ({ stores, stateDir, profileKey, vaultKey, allowances, log }: EngineConfig) => ({
  keys: stores?.keys ?? new KeyStore(stateDir, Date.now, log),
  profiles: stores?.profiles ?? new ProfileStore(stateDir, profileKey),
  credentials: stores?.credentials ?? new CredentialVault(stateDir, vaultKey, allowances),
})

/** @throws BaxError `feature_disabled` on a server. */
function stopFromRequest({ onStop }: EngineConfig): void {
  if (!onStop) throw new BaxError('feature_disabled', 'only the local engine can be stopped by a request')
  // Send the response first.
  setImmediate(onStop)
}

function lazyHandoffs(
  sessions: BrowserSessions,
  parts: { egress: Egress; webhookSecret: string | undefined },
): Handoffs {
  const load = async () => (await import('./browser/live/handoffs.ts')).handoffsOf(sessions, parts)
  return {
    request: async (input, call) => (await load()).request(input, call),
    get: async (sessionId, id, waitSecs, call) => (await load()).get(sessionId, id, waitSecs, call),
    withdraw: async (sessionId, id, call) => (await load()).withdraw(sessionId, id, call),
    list: async (call) => (await load()).list(call),
  }
}

/** Names of relays, which are wired later. */
const namesOf = (relays: () => Names): Names => ({ hasName: (name, owner) => relays().hasName(name, owner) })

const withCalls = (sessions: BrowserSessions): RelaysOptions['sessions'] => ({
  knows: (idOrName, caller) => sessions.knows(idOrName, caller),
  hasName: (name, owner) => sessions.hasName(name, owner),
  callsOf: (idOrName, caller) => {
    const session = sessions.live(idOrName, caller)
    return {
      id: session.sessionId,
      call: async (request, signal) =>
        (await import('./browser/session/session-cdp.ts')).callOn(session, request, signal),
    }
  },
})

const emptyState = { cookies: [], origins: [] }

const profilesOf = (store: SavedProfiles, sessions: BrowserSessions): Profiles => ({
  save: async ({ name, session_id: sessionId }, { caller }) => {
    const session = sessionId === undefined ? undefined : sessions.live(sessionId, caller)
    return store.add(name, session ? await session.use(() => readStorage(session)) : emptyState, caller)
  },
  list: async ({ caller }) => {
    let warning: string | undefined
    const profiles = await store.list(caller, (text) => (warning = text))
    return { profiles, total: profiles.length, ...(warning !== undefined && { warning }) }
  },
  get: (idOrName, { caller }) => store.get(idOrName, caller),
  delete: (idOrName, { caller }) => store.delete(idOrName, caller),
})

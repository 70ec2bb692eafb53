/** The engine: browser sessions and saved profiles behind one interface, with one way to end it all. */
import type { EngineConfig } from '../core/config.ts'
import type { Engine, Profiles } from '../core/engine.ts'
import { BaxError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { version } from '../core/version.ts'
import { makeBatchTools } from './batch-tools.ts'
import { BrowserSessions } from './browser/sessions.ts'
import { SessionDiagnostics } from './browser/trace.ts'
import { crawlPart } from './crawl/part.ts'
import { relayPart } from './relay/part.ts'
import { withRelay } from './relay/relayed-sessions.ts'
import { scraperPart } from './scrape/part.ts'
import { searchPart } from './search/part.ts'
import { shellPart } from './shell/part.ts'
import { ProfileStore } from './store/profiles.ts'
import { KeyStore } from './store/keys.ts'

/** Makes an engine; nothing is started before it is needed. */
export function createEngine(config: EngineConfig): Engine {
  const store = new ProfileStore(config.stateDir)
  const tools = makeBatchTools(config)
  const sessions = new BrowserSessions({ config, profiles: store, tools })
  const extractor = scraperPart(config)
  const crawls = crawlPart(config, extractor)
  const relays = relayPart(config, tools, (idOrName) => {
    if (!sessions.knows(idOrName)) return undefined
    const session = sessions.live(idOrName)
    return {
      id: session.sessionId,
      call: async (request, signal) => (await import('./browser/session-cdp.ts')).callOn(session, request, signal),
    }
  })
  const shell = shellPart(config)
  const identity = { engine_id: newId('eng'), version, home: config.home, pid: process.pid }
  const startedAt = new Date().toISOString()
  let closing: Promise<void> | undefined
  return {
    crawls,
    keys: new KeyStore(config.stateDir),
    extractor,
    searcher: searchPart(config, extractor, (idOrName) => sessions.live(idOrName)),
    relays,
    sessions: withRelay(sessions, relays),
    shells: shell.shells,
    diagnostics: new SessionDiagnostics((idOrName) => sessions.live(idOrName)),
    profiles: profilesOf(store, sessions),
    status: async () => ({
      ...identity,
      started_at: startedAt,
      socket: config.listensOn ?? null,
      sessions: sessions.count,
      provisions: sessions.provisioning,
      shells: shell.count(),
      relays: relays.count(),
      crawls: crawls.count,
      browsers: sessions.pool.status(),
      memory_bytes: process.memoryUsage.rss(),
    }),
    stop: async () => {
      const { onStop } = config
      if (!onStop) throw new BaxError('feature_disabled', 'this engine is stopped by the process that runs it')
      // The answer goes out first.
      setImmediate(onStop)
    },
    close: () =>
      (closing ??= Promise.all([
        sessions.shutDown(),
        crawls.close().then(() => extractor.close()),
        relays.close(),
        shell.close(),
      ]).then(() => {})),
  }
}

const nothing = { cookies: [], origins: [] }

const profilesOf = (store: ProfileStore, sessions: BrowserSessions): Profiles => ({
  save: async ({ name, session_id: sessionId }) => {
    const session = sessionId === undefined ? undefined : sessions.live(sessionId)
    return store.add(name, session ? await session.storage() : nothing)
  },
  list: () => store.list(),
  get: (profileId) => store.get(profileId),
  delete: (profileId) => store.delete(profileId),
})

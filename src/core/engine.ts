/** What an engine can do, as interfaces; operations call these and never an implementation. */
import type { Keys } from './access/keys.ts'
import type { Link } from './net/link.ts'
import type { Call } from './operation/operation.ts'
import type { SocketCall } from './operation/socket.ts'
import type { Frame, StreamCall } from './operation/stream.ts'
import type {
  CrawlAccepted,
  CrawlAccounts,
  CrawlAnswer,
  CrawlInput,
  CrawlListed,
  CrawlState,
  CrawlStatus,
  MapAnswer,
  MapInput,
} from './shapes/crawl.ts'
import type { CommandBatch, CommandsResult } from './shapes/commands.ts'
import type {
  CdpAnswer,
  RelayEvent,
  RelayEventKind,
  RelayEventPage,
  RelayRecord,
  RelayTokenRecord,
} from './shapes/relay.ts'
import type { ScrapeAnswer, ScrapeInput } from './shapes/scrape.ts'
import type { SearchAnswer, SearchInput } from './shapes/search.ts'
import type { SessionLog, TraceAction, TraceState } from './shapes/diagnostics.ts'
import type { EngineStatus, ReadyParts } from './shapes/engine.ts'
import type { LiveViewLink } from './shapes/live-view.ts'
import type { Observation, ObserveRequest, StepRequest, StepResult } from './shapes/observe.ts'
import type { Shells } from './shells.ts'
import type { ProfileRecord, ProvisionRecord, SessionCreated, SessionInput, SessionRecord } from './shapes/session.ts'

export interface Sessions {
  /** A ready session when a browser has a free place, else the id of a provision that will lead to one. */
  create(input: SessionInput, call: Call): Promise<SessionCreated>
  /** Live sessions, newest first; `all` adds the ended ones that are still remembered. */
  list(filter: { status?: SessionRecord['status'] | 'all' }, call: Call): Promise<SessionRecord[]>
  /** Accepts an id or the name of a live session, as all methods with a session id do. */
  get(sessionId: string, call: Call): Promise<SessionRecord>
  /** Ends a session; does nothing for one that has ended already. */
  close(sessionId: string, call: Call): Promise<void>
  provision(provisionId: string, call: Call): Promise<ProvisionRecord>
  cancelProvision(provisionId: string, call: Call): Promise<void>
  runCommands(batch: CommandBatch, call: Call): Promise<CommandsResult>
  /** What the session's active tab shows and offers. */
  observe(request: ObserveRequest, call: Call): Promise<Observation>
  /** Runs commands and tells what they did to the page. */
  step(request: StepRequest, call: Call): Promise<StepResult>
  /** Lets a client speak CDP with a session, by its frame token or a key. @throws BaxError `unauthorized`, `unsupported`. */
  openClient(sessionId: string, token: string | null, call: Call): Promise<(link: Link) => void>
  /** A token that lets a client of CDP in, once and within a minute. */
  ticket(sessionId: string, call: Call): Promise<string>
  /** Shows a session live, by a frame token or to who sees it. @throws BaxError `unauthorized`, `session_not_found`. */
  openLiveView(sessionId: string, token: string | null, call: Call): Promise<(link: Link) => void>
  /** An address that shows a session live to whoever has it. @throws BaxError `unsupported` where no page is served. */
  linkLiveView(sessionId: string, control: boolean, call: Call): Promise<LiveViewLink>
  /** Events of a session as they happen; null when it has ended. A wrong token is refused. */
  follow(
    request: { session_id: string; token?: string; since?: number; types?: readonly string[] },
    call: StreamCall,
  ): Promise<AsyncIterable<Frame> | null>
}

export interface Profiles {
  save(input: { name: string; session_id?: string }, call: Call): Promise<ProfileRecord>
  list(call: Call): Promise<{ profiles: ProfileRecord[]; total: number; warning?: string }>
  get(profileId: string, call: Call): Promise<ProfileRecord>
  delete(profileId: string, call: Call): Promise<void>
}

export interface Scraper {
  /**
   * One page in the formats that were asked for.
   * @throws BaxError with the code of what went wrong with the page, or `timeout`, `url_blocked`, `invalid_request`.
   */
  scrape(input: ScrapeInput, call: Pick<Call, 'signal' | 'caller'>): Promise<ScrapeAnswer>
}

export interface Crawls {
  /** Pages that one crawl may have. */
  readonly mostPages: number
  /**
   * The whole crawl, or its id alone when it is to go on by itself.
   * @throws BaxError `url_blocked` or `invalid_request`; what goes wrong with the site is told in the answer.
   */
  crawl(input: CrawlInput, call: Call): Promise<CrawlAnswer | CrawlAccepted>
  /** Those of the caller, newest first. */
  list(wishes: { limit: number }, call: Call): Promise<{ crawls: CrawlListed[]; total: number; warning?: string }>
  get(part: { id: string; skip: number; limit: number }, call: Call): Promise<CrawlState>
  accounts(id: string, call: Call): Promise<CrawlAccounts>
  /** Settles when nothing of it runs any more. @throws BaxError `conflict` when it has ended by itself. */
  cancel(id: string, call: Call): Promise<CrawlStatus>
  /** @throws BaxError `conflict` when it is running, or complete. */
  resume(id: string, call: Call): Promise<CrawlAccepted>
  /** Events of a crawl from the first one after `since`, kept ones first. */
  follow(
    request: { id: string; since: number; types?: readonly string[] | undefined },
    call: StreamCall,
  ): Promise<AsyncIterable<Frame> | null>
  map(input: MapInput, call: Call): Promise<MapAnswer>
}

export interface Searcher {
  /**
   * Results of the first provider that answers, scraped where formats are asked for.
   * @throws BaxError `search_unavailable` with every provider's failure in its details.
   */
  search(input: SearchInput, call: Pick<Call, 'signal' | 'caller'>): Promise<SearchAnswer>
}

/** Which buffered events of a relay session are wanted. */
export interface RelayEventQuery {
  readonly since?: number | undefined
  readonly kind?: readonly RelayEventKind[] | undefined
  readonly type?: readonly string[] | undefined
  readonly target_id?: string | undefined
  readonly level?: string | undefined
  /** Glob. */
  readonly url?: string | undefined
  readonly text?: string | undefined
}

export interface CdpRequest {
  readonly session_id: string
  readonly method: string
  readonly params: Record<string, unknown>
  readonly target_id?: string | undefined
  readonly timeout_ms: number
  readonly max_bytes: number
}

/** Browsers of users, brought by connectors. All methods with an id accept the name too, and throw `relay_not_found`. */
export interface Relays {
  list(call: Call): Promise<RelayRecord[]>
  get(id: string, call: Call): Promise<RelayRecord>
  /** Lets the connector go, for good. */
  stop(id: string, call: Call): Promise<void>
  /** @throws BaxError `target_not_found`, `relay_disconnected`, `browser_lost`. */
  activate(id: string, targetId: string, call: Call): Promise<void>
  readEvents(
    id: string,
    query: RelayEventQuery & {
      limit: number
      order: 'asc' | 'desc'
      wait_ms: number
      format: 'json' | 'ndjson' | 'har'
    },
    call: Call,
  ): Promise<RelayEventPage | { log: Record<string, unknown> }>
  clearEvents(id: string, call: Call): Promise<void>
  /** Records as they come, the kept ones after `since` first. */
  followEvents(id: string, query: RelayEventQuery, call: StreamCall): Promise<AsyncIterable<RelayEvent>>
  /** Lets a connector in. @throws BaxError `unauthorized`. */
  admit(call: SocketCall): Promise<(link: Link) => void>
  /** Lets a client speak CDP with a browser. @throws BaxError `unauthorized`, `relay_disconnected`, `browser_lost`. */
  openClient(id: string, token: string | null, call: Call): Promise<(link: Link) => void>
  /** A protocol error is an answer; all else that goes wrong is thrown. */
  cdp(request: CdpRequest, call: Call): Promise<CdpAnswer>
  readonly tokens: {
    create(
      wish: { name?: string | undefined; ttl_secs: number; single_use: boolean },
      call: Call,
    ): Promise<{ token: string; token_id: string; expires_at: string }>
    list(call: Call): Promise<RelayTokenRecord[]>
    /** @throws BaxError `token_not_found`. */
    revoke(tokenId: string, call: Call): Promise<void>
  }
}

/** What a live session did, for the search of a fault. */
export interface Diagnostics {
  log(sessionId: string, call: Call): Promise<SessionLog>
  /** @throws BaxError `conflict` when the recording is not in the state that the action needs. */
  trace(sessionId: string, action: TraceAction, call: Call): Promise<TraceState>
}

export interface Engine {
  readonly keys: Keys
  readonly crawls: Crawls
  readonly diagnostics: Diagnostics
  readonly extractor: Scraper
  readonly searcher: Searcher
  readonly relays: Relays
  readonly sessions: Sessions
  readonly profiles: Profiles
  readonly shells: Shells
  status(): Promise<EngineStatus>
  /** Whether it could do work now; looked at anew when the last look is some seconds old. */
  readiness(): Promise<Omit<ReadyParts, 'accepting'>>
  /** Asks the process that hosts the engine to end; answers before it does. */
  stop(): Promise<void>
  /** Ends every session and browser; safe to call twice. */
  close(): Promise<void>
}

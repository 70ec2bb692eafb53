/** The interfaces of an engine; operations depend on these and never on an implementation. */
import type { Fleet } from './fleet.ts'
import type { Call, Content, Frame, SocketCall, StreamCall } from './operation/call.ts'
import type { Keys } from './access/keys.ts'
import type { CredentialStore } from './stores.ts'
import type { ApprovalDecided, ApprovalRecord } from './access/approvals.ts'
import type { HandoffInput, HandoffRecord } from './access/handoffs.ts'
import type { Link } from './net/link.ts'
import type { CodeInput, CodeResult } from './shapes/jobs/code.ts'
import type * as crawl from './shapes/crawl.ts'
import type { CommandBatch, CommandsResult } from './shapes/commands.ts'
import type * as relay from './shapes/relay.ts'
import type { RequestAnswer, RequestInput } from './shapes/read/request.ts'
import type { ScrapeAnswer, ScrapeInput } from './shapes/scrape.ts'
import type { SearchAnswer, SearchInput } from './shapes/search.ts'
import type { RecordingAction, RecordingState, ScriptFormat, SessionScript } from './shapes/recording.ts'
import type { SessionLog, TraceAction, TraceState } from './shapes/events.ts'
import type { EngineStatus, ReadyParts } from './shapes/engine.ts'
import type { LiveViewLink } from './shapes/live-view.ts'
import type { Observation, ObserveRequest, StepRequest, StepResult } from './shapes/observe.ts'
import type { SessionFile, SessionFileList } from './shapes/session-files.ts'
import type { Shells } from './shells.ts'
import type { ProfileRecord, ProvisionRecord, SessionCreated, SessionInput, SessionRecord } from './shapes/session.ts'

export interface Sessions {
  /** Creates a session when a browser slot is free, else starts a provision and returns its ID. */
  create(input: SessionInput, call: Call): Promise<SessionCreated>
  /** Lists live sessions, newest first; `all` adds ended ones that are still remembered. */
  list(filter: { status?: SessionRecord['status'] | 'all' }, call: Call): Promise<SessionRecord[]>
  /** Accepts the ID or the name of a live session, like all methods with a session ID. */
  get(sessionId: string, call: Call): Promise<SessionRecord>
  /** Ends a session; does nothing when it has already ended. */
  close(sessionId: string, call: Call): Promise<void>
  /**
   * Ends what the caller's key created: live sessions, which it returns newest first, and provisions under way, of which
   * it returns the IDs. Provisions are cancelled first, so that none gets a slot that becomes free.
   */
  closeOwn(call: Call): Promise<{ sessions: SessionRecord[]; provisions: string[] }>
  provision(provisionId: string, call: Call): Promise<ProvisionRecord>
  cancelProvision(provisionId: string, call: Call): Promise<void>
  runCommands(batch: CommandBatch, call: Call): Promise<CommandsResult>
  /** Describes the content and the interactive elements of the session's active tab. */
  observe(request: ObserveRequest, call: Call): Promise<Observation>
  /** Runs commands and reports their effect on the page. */
  step(request: StepRequest, call: Call): Promise<StepResult>
  /** Connects a CDP client to a session, by frame token or key. @throws BaxError `unauthorized`, `unsupported`. */
  openClient(sessionId: string, token: string | null, call: Call): Promise<(link: Link) => void>
  /** Creates a token for one CDP connection within a minute. */
  ticket(sessionId: string, call: Call): Promise<string>
  /** Opens a live view, by a frame token or the caller's key. @throws BaxError `unauthorized`, `session_not_found`. */
  openLiveView(sessionId: string, token: string | null, call: Call): Promise<(link: Link) => void>
  /** Starts, stops or returns the recording of a session. @throws BaxError `conflict`, `unsupported` for relays. */
  record(sessionId: string, action: RecordingAction, call: Call): Promise<RecordingState>
  /** Returns what was done to a session, as a script. @throws BaxError `invalid_request` when nothing can be repeated */
  script(sessionId: string, request: { format: ScriptFormat; from: number }, call: Call): Promise<SessionScript>
  /** Creates a URL for watching a session, open to anyone who has it. @throws BaxError `unsupported` without HTTP. */
  linkLiveView(sessionId: string, control: boolean, call: Call): Promise<LiveViewLink>
  /** Streams the events of a session; null when it has ended. A wrong token is rejected. */
  follow(
    request: { session_id: string; token?: string; since?: number; types?: readonly string[]; hold?: boolean },
    call: StreamCall,
  ): Promise<AsyncIterable<Frame> | null>
  /** Closes a session when this and all its other leases have ended for `graceSecs`. */
  lease(sessionId: string, graceSecs: number, call: StreamCall): Promise<AsyncIterable<Frame>>
}

/** Sessions that their callers hand over to a person. Methods with the ID of a handoff throw `handoff_not_found`. */
export interface Handoffs {
  /** Asks a person to take over. @throws BaxError `conflict` while another handoff is open, `unsupported` without HTTP */
  request(input: HandoffInput, call: Call): Promise<HandoffRecord>
  /** Returns a handoff, once it has ended or after `waitSecs`. */
  get(sessionId: string, handoffId: string, waitSecs: number, call: Call): Promise<HandoffRecord>
  /** Ends a handoff that is open; does nothing when it has ended. */
  withdraw(sessionId: string, handoffId: string, call: Call): Promise<void>
  /** Lists the open ones of all sessions that the caller sees. */
  list(call: Call): Promise<HandoffRecord[]>
}

/** Actions of sessions that wait for a person. */
export interface Approvals {
  /** Lists those of all sessions that the caller sees. */
  list(call: Call): Promise<ApprovalRecord[]>
  /** Approves or rejects one of them. @throws BaxError `approval_not_found` */
  decide(sessionId: string, approvalId: string, approved: boolean, call: Call): Promise<ApprovalDecided>
}

export interface Profiles {
  save(input: { name: string; session_id?: string }, call: Call): Promise<ProfileRecord>
  list(call: Call): Promise<{ profiles: ProfileRecord[]; total: number; warning?: string }>
  /** Accepts the ID of a profile, or the name of one of the caller's own. */
  get(idOrName: string, call: Call): Promise<ProfileRecord>
  delete(idOrName: string, call: Call): Promise<void>
}

/** An uploaded file. */
export interface Upload {
  readonly name: string
  /** Empty if unknown. */
  readonly contentType: string
  readonly bytes: Uint8Array
}

export interface Scraper {
  /**
   * Scrapes one page in the requested formats.
   * @throws BaxError with the code of the page's failure, or `timeout`, `url_blocked`, `invalid_request`.
   */
  scrape(input: ScrapeInput, call: Pick<Call, 'signal' | 'caller'>): Promise<ScrapeAnswer>
  /** Converts an uploaded file; the URL of the input has its name. @throws BaxError as `scrape` does */
  parse(file: Upload, input: ScrapeInput, call: Pick<Call, 'signal' | 'caller'>): Promise<ScrapeAnswer>
}

export interface Crawls {
  /** Maximum number of pages of one crawl. */
  readonly mostPages: number
  /**
   * Returns the finished crawl, or only its ID when it runs in the background.
   * @throws BaxError `url_blocked` or `invalid_request`; failures of the site are part of the answer.
   */
  crawl(input: crawl.CrawlInput, call: Call): Promise<crawl.CrawlAnswer | crawl.CrawlAccepted>
  /** Lists the caller's crawls, newest first. */
  list(
    options: { limit: number },
    call: Call,
  ): Promise<{ crawls: crawl.CrawlListed[]; total: number; warning?: string }>
  get(range: { id: string; skip: number; limit: number }, call: Call): Promise<crawl.CrawlState>
  /** Returns the running crawls and the pages in their queues. */
  usage(call: Call): Promise<crawl.CrawlUsage>
  accounts(id: string, call: Call): Promise<crawl.CrawlAccounts>
  /** Resolves once nothing of the crawl runs any more. @throws BaxError `conflict` when it has already ended. */
  cancel(id: string, call: Call): Promise<crawl.CrawlStatus>
  /** @throws BaxError `conflict` when the crawl is running or complete. */
  resume(id: string, call: Call): Promise<crawl.CrawlAccepted>
  /** Streams the events of a crawl after `since`, stored ones first. */
  follow(
    request: { id: string; since: number; types?: readonly string[] | undefined },
    call: StreamCall,
  ): Promise<AsyncIterable<Frame> | null>
  map(input: crawl.MapInput, call: Call): Promise<crawl.MapAnswer>
}

export interface Searcher {
  /**
   * Returns the results of the first provider that succeeds, scraped if formats are requested.
   * @throws BaxError `search_unavailable` with every provider's error in its details.
   */
  search(input: SearchInput, call: Pick<Call, 'signal' | 'caller'>): Promise<SearchAnswer>
}

/** The public key of the bot of an installation, as sites fetch it, with a signature that proves that it is its own. */
export interface SignedDirectory {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Requests {
  /**
   * Sends one HTTP request with the cookies of a session or a profile. A response with any status is a success.
   * @throws BaxError with the code of the failed connection, or `timeout`, `url_blocked`, `content_too_large`.
   */
  send(input: RequestInput, call: Call): Promise<RequestAnswer>
}

export interface Code {
  /**
   * Runs code in a sandbox; a failure of the code is part of the result.
   * @throws BaxError `no_capacity`, `rate_limited` when too many are running.
   */
  run(input: CodeInput, call: Call): Promise<CodeResult>
}

/** Users' browsers, connected by connectors. Methods with an ID also accept the name, and throw `relay_not_found`. */
export interface Relays {
  list(call: Call): Promise<relay.RelayRecord[]>
  get(id: string, call: Call): Promise<relay.RelayRecord>
  /** Disconnects the connector permanently. */
  stop(id: string, call: Call): Promise<void>
  /** @throws BaxError `target_not_found`, `relay_disconnected`, `browser_lost`. */
  activate(id: string, targetId: string, call: Call): Promise<void>
  readEvents(
    id: string,
    query: relay.RelayEventsRequest,
    call: Call,
  ): Promise<relay.RelayEventPage | { log: Record<string, unknown> }>
  clearEvents(id: string, call: Call): Promise<void>
  /** Streams records, the stored ones after `since` first. */
  followEvents(id: string, query: relay.RelayEventQuery, call: StreamCall): Promise<AsyncIterable<relay.RelayEvent>>
  /**
   * Accepts a connector, which may resume the session with this ID.
   * @throws BaxError `unauthorized`, `too_many_sessions`
   */
  admit(call: SocketCall, sessionId?: string): Promise<(link: Link) => void>
  /** Returns the key that owns a relay token (null where no keys are in use); undefined for an invalid token. */
  ownerOf(token: string): Promise<string | null | undefined>
  /** Connects a CDP client to a browser. @throws BaxError `unauthorized`, `relay_disconnected`, `browser_lost`. */
  openClient(id: string, token: string | null, call: Call): Promise<(link: Link) => void>
  /** Sends a CDP command. Protocol errors are part of the answer; other failures are thrown. */
  cdp(request: relay.CdpRequest, call: Call): Promise<relay.CdpAnswer>
  readonly tokens: {
    create(
      options: { name?: string | undefined; ttl_secs: number; single_use: boolean },
      call: Call,
    ): Promise<{ token: string; token_id: string; expires_at: string }>
    list(call: Call): Promise<relay.RelayTokenRecord[]>
    /** @throws BaxError `token_not_found`. */
    revoke(tokenId: string, call: Call): Promise<void>
  }
}

/** Diagnostic data of live sessions. */
export interface Diagnostics {
  log(sessionId: string, call: Call): Promise<SessionLog>
  /** Adds the stages of a provision to the event log of its session. @throws BaxError `session_not_found` */
  addStages(sessionId: string, stages: ProvisionRecord['stages'], call: Pick<Call, 'caller'>): void
  /** @throws BaxError `conflict` when the recording is not in the state that the action requires. */
  trace(sessionId: string, action: TraceAction, call: Call): Promise<TraceState>
  /** Returns the replay of a session as HTML. @throws BaxError `conflict` when it is not recorded for one. */
  replay(sessionId: string, call: Call): Promise<Content>
}

/** Files of live sessions. @throws BaxError `unsupported` for browsers that are connected through the relay. */
export interface SessionFiles {
  list(sessionId: string, call: Call): Promise<SessionFileList>
  /** @throws BaxError `file_not_found`. */
  open(sessionId: string, name: string, call: Call): Promise<Content>
  /** Receives a file; without `overwrite`, its name gets a number if another file has it. @throws BaxError `no_space`. */
  receive(
    upload: { session_id: string; folder?: string | undefined; name: string; overwrite: boolean },
    body: AsyncIterable<Uint8Array>,
    call: Call,
  ): Promise<SessionFile>
  /** @throws BaxError `file_not_found`. */
  remove(sessionId: string, name: string, call: Call): Promise<void>
}

export interface Engine {
  readonly keys: Keys
  readonly crawls: Crawls
  readonly diagnostics: Diagnostics
  readonly files: SessionFiles
  readonly extractor: Scraper
  readonly searcher: Searcher
  readonly requests: Requests
  /** Returns the public key that reads with `sign` use; undefined if there is none. */
  botDirectory(): Promise<SignedDirectory | undefined>
  readonly code: Code
  readonly relays: Relays
  readonly sessions: Sessions
  readonly approvals: Approvals
  readonly handoffs: Handoffs
  readonly profiles: Profiles
  readonly credentials: Omit<CredentialStore, 'use'>
  readonly shells: Shells
  /** The workers behind a gateway; absent elsewhere. */
  readonly fleet?: Fleet
  status(): Promise<EngineStatus>
  /** Reports whether the engine could work now; unless `fresh`, the result is cached for some seconds. */
  readiness(options?: { readonly fresh?: boolean }): Promise<Omit<ReadyParts, 'accepting'>>
  /** Asks the process that hosts the engine to exit; returns before it does. */
  stop(): Promise<void>
  /** Ends all sessions, shells, relays and provisions, as if it had crashed; it continues to accept work. */
  endAll(): Promise<void>
  /** Ends all sessions and browsers; idempotent. */
  close(): Promise<void>
}

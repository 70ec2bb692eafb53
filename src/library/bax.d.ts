/// <reference lib="esnext.disposable" />
/** Browsers, extraction, relay and shells from code; `bax help library` describes it. */
import type { Page } from 'playwright'

/** Settings that replace those of the `bax` command in the same folder. */
export interface ConnectOptions {
  /** Server to use: `http(s)://host:port` or `unix:/path`. Without one, a local engine is started when needed. */
  server?: string
  /** Key for the server. */
  key?: string
  /** An engine inside this process, which ends with the connection. */
  embedded?: boolean
  /** Folder for sessions, profiles and logs. */
  stateDir?: string
  /** Browser program to start. */
  browser?: string
  /** Ignore `HTTP_PROXY` and similar variables. */
  noProxy?: boolean
}

/** Connects to an engine. What the connection creates ends with it. */
export declare function connect(options?: ConnectOptions): Promise<Bax>

/** Options of every call. */
export interface CallOptions {
  /** Cancels the call. */
  signal?: AbortSignal
}

/** A failure, with the code and the hint that the `bax` command prints. */
export declare class BaxError extends Error {
  readonly code: ErrorCode
  /** Next step that may solve it. */
  readonly hint: string | undefined
  readonly details: unknown
  /** Whether a retry may help. */
  readonly retryable: boolean
}

/** Bytes to upload. */
export type UploadBody = string | Uint8Array | AsyncIterable<Uint8Array>

export interface Download {
  readonly status: number
  readonly headers: Headers | Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A page of a crawl, or the error of one that could not be read. */
export interface CrawledPage extends Partial<ScrapeResult> {
  /** URL as discovered. */
  url: string
  /** Number of links away from the start page. */
  depth: number
  /** Number of the page; absent for an error. */
  index?: number
  /** The page was read again and replaces the earlier one of this index. */
  replaces?: boolean
  error?: string
  code?: string
  status_code?: number
}

/** Outcome of a crawl. */
export type CrawlSummary = { id: string } & Extract<CrawlEvent, { type: 'crawl.finished' }>['data']

export interface Bax extends AsyncDisposable {
  readonly sessions: Sessions
  readonly shells: Shells
  readonly relays: Relays
  /** Crawls a site, and yields its pages as they are read. A loop that ends early cancels the crawl. */
  crawl(input: Omit<CrawlInput, 'async'>, call?: CallOptions): AsyncGenerator<CrawledPage, CrawlSummary>
  /** Closes the sessions, shells and crawls that this connection created, and the connection. */
  close(): Promise<void>
}

/** Browser sessions. */
export interface Sessions {
  /** Creates a session, which ends with the connection. */
  create(input?: CreateSessionInput, call?: CallOptions): Promise<Session>
  /** Returns an existing session by its ID or name; it stays open when the connection ends. */
  get(id: string, call?: CallOptions): Promise<Session>
}

/** Containers that run code. */
export interface Shells {
  /** Creates a shell, which ends with the connection. */
  create(input?: CreateShellInput, call?: CallOptions): Promise<Shell>
  /** Returns an existing shell by its ID or name; it stays when the connection ends. */
  get(id: string, call?: CallOptions): Promise<Shell>
}

/** Browsers that their users connected with `bax relay connect`. */
export interface Relays {
  /** Returns a connected browser by its ID or name. */
  get(id: string, call?: CallOptions): Promise<Relay>
}

export interface Session extends Commands, AsyncDisposable {
  readonly id: string
  /** Returns the active tab as a page of Playwright. */
  page(): Promise<Page>
}

export interface Shell extends AsyncDisposable {
  readonly id: string
}

export interface Relay extends Commands, AsyncDisposable {
  readonly id: string
  /** Returns the active tab as a page of Playwright. */
  page(): Promise<Page>
}

/** Calls of operations, and the data that streams and transfers exchange. */
import type { Caller } from '../access/caller.ts'

/** The server process that hosts an engine, as operations see it. */
export interface Service {
  /** The server is shutting down: running work may finish, new work is rejected. */
  readonly draining: boolean
  /** Metrics in the Prometheus text format; absent where none are collected. */
  readonly metrics?: () => Promise<string>
}

/** Metadata of one call, apart from its input. */
export interface Call {
  /** The caller, who owns everything that the call creates. */
  readonly caller: Caller
  /** Aborted when the caller disconnects; its work is then cancelled. */
  readonly signal: AbortSignal
  /** Prefix of URLs in responses: `http://host:port` as used by the caller, without trailing slash; may be empty. */
  readonly baseUrl: string
  /** The same for websockets; null where none are served. */
  readonly socketBaseUrl: string | null
  readonly requestId: string
  /** Content type of an uploaded body. */
  readonly contentType?: string | undefined
  /** Credential from a header: a key, or a token where one is accepted. */
  readonly token?: string | null
  /** Whether the caller prefers a background task (`Prefer: respond-async`). */
  readonly preferAsync?: boolean
  /** Slot of this worker that a gateway reserved for the object that the call creates; absent outside of fleets. */
  readonly reservation?: string
  /** The server that received the call; absent for calls within a process. */
  readonly service?: Service
  /**
   * Calls an operation as the caller of this one, in a request of its own to which all checks apply; absent where there
   * are no requests. @throws BaxError with the code of the failed call
   */
  readonly ask?: Ask
}

/** Calls an operation, given its method and path; returns the body of its response. */
export type Ask = (http: string, input: Record<string, unknown>, signal: AbortSignal) => Promise<unknown>

/** Fields of every frame; the others depend on its type. */
export interface Frame {
  /** Position in the stream, for `Last-Event-ID`. */
  readonly seq: number
  /** ISO 8601 UTC; for relay events milliseconds since 1970, by the browser's clock. */
  readonly ts: string | number
  readonly type: string
}

export interface StreamCall extends Call {
  /** Last frame that the caller received (`Last-Event-ID`, or `since`); undefined starts now. */
  readonly since: number | undefined
}

export interface SocketCall extends Call {
  /** Token from a header or a subprotocol; null when the caller sent a key, or nothing. */
  readonly token: string | null
  /** Whether the caller is the machine's own user, on a private socket or in the same process. */
  readonly own: boolean
}

/** Bytes that can be read as a whole or in ranges. */
export interface Content {
  readonly size: number
  /** Entity tag of this exact content; without quotes. */
  readonly etag: string
  readonly contentType: string
  /** File name for saving; percent-encoded bytes. */
  readonly fileName: string
  /** Reads the bytes from `start` to `end` (exclusive); opens nothing before the first read. */
  read(start: number, end: number): AsyncIterable<Uint8Array>
}

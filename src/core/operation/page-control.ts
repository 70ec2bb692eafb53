/** Interfaces through which commands control the network, the emulation and the init scripts of a session. */

/** Reasons with which a route can abort a request, as in Playwright. */
export const abortReasons = [
  'aborted',
  'accessdenied',
  'addressunreachable',
  'blockedbyclient',
  'blockedbyresponse',
  'connectionaborted',
  'connectionclosed',
  'connectionfailed',
  'connectionrefused',
  'connectionreset',
  'failed',
  'internetdisconnected',
  'namenotresolved',
  'timedout',
] as const

/** Types of requests, as the browser reports them. */
export const requestTypes = [
  'document',
  'stylesheet',
  'image',
  'media',
  'font',
  'script',
  'texttrack',
  'xhr',
  'fetch',
  'eventsource',
  'manifest',
  'ping',
  'prefetch',
  'preflight',
  'signedexchange',
  'cspviolationreport',
  'fedcm',
  'other',
] as const

type HeaderMap = Readonly<Record<string, string>>

/** Action of a route on matching requests. */
export type RouteAction =
  | { readonly kind: 'abort'; readonly reason: (typeof abortReasons)[number] }
  | { readonly kind: 'fulfil'; readonly status: number; readonly headers: HeaderMap; readonly body: Uint8Array }
  | { readonly kind: 'modify'; readonly set: HeaderMap; readonly remove: readonly string[] }

export interface RouteRule {
  /** Glob of URLs. */
  readonly url: string
  /** Types of requests; all if empty. */
  readonly types: readonly string[]
  readonly method?: string | undefined
  readonly action: RouteAction
}

export interface ListedRoute extends RouteRule {
  readonly id: string
  /** Number of requests that it has handled. */
  readonly hits: number
}

export interface RequestFilter {
  readonly url?: string | undefined
  readonly types: readonly string[]
  readonly method?: string | undefined
  /** `404`, `4xx`, `failed` or `pending`. */
  readonly status?: string | undefined
  readonly limit: number
}

/** Routes and requests of a session. */
export interface NetworkControl {
  /** Adds a route, which takes precedence over older ones; returns its ID. */
  addRoute(rule: RouteRule): Promise<string>
  /** Removes the routes with this ID or glob, by default all; returns their IDs. */
  removeRoutes(which: string | undefined): Promise<string[]>
  listRoutes(): ListedRoute[]
  /** Returns recent requests, oldest first, and the number of matches. */
  listRequests(filter: RequestFilter): { requests: Record<string, unknown>[]; total: number }
  /** Returns headers and bodies of a recent request. @throws BaxError `invalid_data` for an unknown ID. */
  request(id: string, maxBytes: number): Promise<Record<string, unknown>>
}

/** Settings to emulate; fields that are absent do not change. */
export interface EmulationRequest {
  readonly device?: string | undefined
  readonly viewport?: { readonly width: number; readonly height: number } | undefined
  readonly scale?: number | undefined
  readonly color_scheme?: string | undefined
  readonly reduced_motion?: string | undefined
  readonly contrast?: string | undefined
  readonly forced_colors?: string | undefined
  readonly media?: string | undefined
  readonly geolocation?:
    | { readonly latitude: number; readonly longitude: number; readonly accuracy: number }
    | undefined
  readonly locale?: string | undefined
  readonly timezone?: string | undefined
  readonly offline?: boolean | undefined
  readonly headers?: HeaderMap | undefined
  readonly credentials?:
    | { readonly username: string; readonly password: string; readonly origin?: string | undefined }
    | undefined
  readonly user_agent?: string | undefined
  /** Whether to undo everything first. */
  readonly reset?: boolean | undefined
}

/** Emulation of a session, which applies to all its tabs. */
export interface EmulationControl {
  /** Applies settings; returns all that are in force. */
  apply(request: EmulationRequest): Promise<Record<string, unknown>>
}

/** Scripts that run before those of every page. */
export interface InitScripts {
  /** Adds a script; returns its ID. */
  add(source: string): Promise<string>
  /** Removes a script, by default all; returns the removed IDs. */
  remove(id: string | undefined): Promise<string[]>
}

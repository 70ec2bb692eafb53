/** Recent requests of a context, by the ID that the events of its session give them. */
import type { BrowserContext, Request, Response } from 'playwright'
import { redactUrl } from '../../../core/access/redact.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { RequestFilter } from '../../../core/operation/page-control.ts'
import { oncePer } from '../../../core/once-per.ts'
import { urlGlob } from './url-glob.ts'

/** Facts of a request in the events of its session. */
interface RequestFacts {
  readonly request_id: string
  readonly tab_id?: string
  readonly method: string
  readonly url: string
  readonly resource_type: string
}

export interface LoggedRequest {
  readonly facts: RequestFacts
  readonly request: Request
  readonly startedAt: Date
  response?: Response
  /** Error of a request that has failed, also after its response had begun. */
  error?: string
  /** Time when the request finished or failed, by the monotonic clock. */
  endedAfterMs?: number
}

export const requestLogOf = oncePer((_context: BrowserContext) => new RequestLog())

/** Resource types whose connections stay open. */
export const lastingTypes: ReadonlySet<unknown> = new Set(['eventsource', 'websocket', 'ping', 'media'])

interface Kept extends LoggedRequest {
  readonly started: number
  readonly bytes: number
}

/** Keeps the newest requests. Bodies of responses stay in the browser, but not what pages send. */
class RequestLog {
  readonly #byId = new Map<string, Kept>()
  #bytes = 0

  add(facts: RequestFacts, request: Request): void {
    const bytes = request.url().length + (request.postDataBuffer()?.length ?? 0)
    this.#byId.set(facts.request_id, { facts, request, bytes, startedAt: new Date(), started: performance.now() })
    this.#bytes += bytes
    const { requests, requestBytes } = limits.network
    for (const [id, oldest] of this.#byId) {
      // The newest request is kept in any case.
      if (this.#byId.size === 1 || (this.#byId.size <= requests && this.#bytes <= requestBytes)) return
      this.#byId.delete(id)
      this.#bytes -= oldest.bytes
    }
  }

  /** Records the response of a request. */
  respond({ request_id: id }: RequestFacts, response: Response): void {
    const logged = this.#byId.get(id)
    if (logged) logged.response = response
  }

  /** Records the end of a request; `error` is why it failed. */
  end({ request_id: id }: RequestFacts, error?: string): void {
    const logged = this.#byId.get(id)
    if (!logged) return
    logged.endedAfterMs = Math.round(performance.now() - logged.started)
    if (error !== undefined) logged.error = error
  }

  /** Returns the newest matches, oldest first. @throws BaxError `invalid_request` for an invalid glob. */
  list({ url, types, method, status, limit }: RequestFilter): { requests: Record<string, unknown>[]; total: number } {
    const matchesUrl = url === undefined ? () => true : urlGlob(url, 'url')
    const found = [...this.#byId.values()].filter(
      (logged) =>
        (types.length === 0 || types.includes(logged.facts.resource_type)) &&
        (method === undefined || method === logged.facts.method.toUpperCase()) &&
        (status === undefined || hasStatus(logged, status)) &&
        matchesUrl(logged.request.url()),
    )
    return { requests: found.slice(-limit).map(summaryOf), total: found.length }
  }

  /** Returns the pending requests since a time of the monotonic clock, oldest first. */
  pendingSince(since: number): RequestFacts[] {
    return [...this.#byId.values()]
      .filter(({ started, endedAfterMs }) => started >= since && endedAfterMs === undefined)
      .map(({ facts }) => facts)
      .filter(({ resource_type }) => !lastingTypes.has(resource_type))
  }

  /** Returns whether a request is listed, unlike those during a handoff. */
  has(request: Request): boolean {
    return [...this.#byId.values()].some((logged) => logged.request === request)
  }

  /** @throws BaxError `invalid_data` for an unknown or forgotten ID. */
  find(id: string): LoggedRequest {
    const logged = this.#byId.get(id)
    if (logged) return logged
    throw new BaxError('invalid_data', `no recent request has the ID ${JSON.stringify(id)}`, {
      hint: `list the requests with list_requests; the last ${limits.network.requests} are kept`,
    })
  }
}

/** Requests that an error names, and the characters of each URL. */
const [namedRequests, urlChars] = [3, 200]

/** Returns a clause of an error that names pending requests; empty for none. */
export function pendingClause(requests: readonly Pick<RequestFacts, 'method' | 'url'>[]): string {
  if (requests.length === 0) return ''
  const named = requests
    .slice(0, namedRequests)
    .map(({ method, url }) => [method, redactUrl(url)] as const)
    .map(([method, url]) => `${method} ${url.length > urlChars ? `${url.slice(0, urlChars)}…` : url}`)
  const more = requests.length - named.length
  return `; pending: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Returns what lists show of a request. */
export const summaryOf = ({ facts, response, error, startedAt, endedAfterMs }: LoggedRequest) => ({
  ...facts,
  status: response?.status() ?? null,
  ...(response?.headers()['content-type'] && { content_type: response.headers()['content-type'] }),
  ...(error !== undefined && { error }),
  pending: endedAfterMs === undefined,
  started_at: startedAt.toISOString(),
  duration_ms: endedAfterMs ?? null,
})

function hasStatus({ response, error, endedAfterMs }: LoggedRequest, status: string): boolean {
  if (status === 'failed') return error !== undefined
  if (status === 'pending') return endedAfterMs === undefined
  const code = String(response?.status() ?? '')
  return status.endsWith('xx') ? code.length === 3 && code[0] === status[0] : code === status
}

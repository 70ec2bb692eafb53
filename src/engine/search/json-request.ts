/** Requests to the JSON APIs of search providers: limits responses, converts errors, and hides keys in messages. */
import { BaxError, type ErrorCode } from '../../core/errors/errors.ts'
import { boundedText } from '../bounded-text.ts'
import { limits } from '../../core/limits/limits.ts'
import type { ProxySettings } from '../../core/config/proxy-settings.ts'
import { explainFetch } from '../egress/fetch-errors.ts'
import { operatorFetch } from '../egress/operator-fetch.ts'
import type { ProviderResult } from './provider.ts'
import { squeeze } from '../../core/text/pieces.ts'

export interface JsonRequest {
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly secrets?: readonly string[]
  /** Returns the provider's message in the body of an error response. */
  readonly errorMessage?: (body: Record<string, unknown>) => unknown
  /** Returns the code of an error whose status is misleading. */
  readonly codeOf?: (status: number, message: string) => ErrorCode | undefined
  readonly proxies?: ProxySettings | undefined
  readonly signal: AbortSignal
}

/** Sends the request. @throws BaxError with the code of an error response, `provider_failed` if it is not JSON */
export async function requestJson(request: JsonRequest): Promise<Record<string, unknown>> {
  const { status, text } = await fetchText(request)
  const body = parsed(text)
  if (status >= 200 && status < 300) {
    if (body) return body
    throw new BaxError('provider_failed', 'its response is not a JSON object')
  }
  throw errorOf(request, status, body)
}

async function fetchText({
  url,
  headers,
  body,
  proxies,
  signal,
}: JsonRequest): Promise<{ status: number; text: string }> {
  try {
    const init = {
      signal,
      // A redirect could send the key and the query to another party.
      redirect: 'manual',
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    } as const
    const response = await operatorFetch(url, init, proxies)
    return { status: response.status, text: await textOf(response) }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof BaxError) throw error
    throw explainFetch(error)
  }
}

const textOf = (response: Response): Promise<string> =>
  boundedText(response, limits.search.answerBytes, () => new BaxError('provider_failed', 'its response is too long'))

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

const errors: readonly [statuses: readonly number[], code: ErrorCode, text: string][] = [
  [[401, 403], 'unauthorized', 'it rejected the key'],
  [[402, 429], 'rate_limited', 'its rate limit is reached'],
]

function errorOf({ secrets = [], errorMessage, codeOf }: JsonRequest, status: number, body?: Record<string, unknown>) {
  if (status >= 300 && status < 400)
    return new BaxError('provider_failed', `it redirects (status ${status}): check its URL`)
  const message = publicMessage(body && errorMessage?.(body), secrets)
  const matching = errors.find(([statuses]) => statuses.includes(status))
  const code = codeOf?.(status, message) ?? matching?.[1] ?? 'provider_failed'
  const text = errors.find(([, of]) => of === code)?.[2] ?? 'it failed'
  return new BaxError(code, `${text} (status ${status}${message && `: ${message}`})`)
}

/** Returns the provider's message, shortened and without secrets. */
function publicMessage(message: unknown, secrets: readonly string[]): string {
  if (typeof message !== 'string') return ''
  const text = secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), squeeze(message).replace(/\.$/, ''))
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}

/** Returns the results in a list of entries, except those without a URL. @throws BaxError `provider_failed` */
export function resultsIn(
  list: unknown,
  fields: { readonly url: string; readonly description: string },
  toText: (value: unknown) => string,
): ProviderResult[] {
  const unknown = new BaxError('provider_failed', 'its response has an unknown format')
  if (!Array.isArray(list)) throw unknown
  const entries = (list as Record<string, unknown>[]).filter((entry) => typeof entry?.[fields.url] === 'string')
  if (list.length > 0 && entries.length === 0) throw unknown
  return entries.map((entry) => ({
    url: entry[fields.url] as string,
    title: toText(entry['title']),
    description: toText(entry[fields.description]),
  }))
}

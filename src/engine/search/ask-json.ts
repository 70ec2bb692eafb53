/** Asks the JSON interface of a search provider: within bounds, every failure under a code, keys in no text. */
import { BaxError, type ErrorCode } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { explainFetch } from '../render/http/fetch-errors.ts'
import { oneLine } from './plain-text.ts'

export interface JsonQuestion {
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  /** Sent with POST. */
  readonly body?: unknown
  /** What no text may show. */
  readonly secrets?: readonly string[]
  /** The sentence of the provider in a refusal's body. */
  readonly complaint?: (body: Record<string, unknown>) => unknown
  /** A refusal that means something else than its status says. */
  readonly codeOf?: (status: number, complaint: string) => ErrorCode | undefined
  readonly signal: AbortSignal
}

/** @throws BaxError with the code of the refusal, or `provider_failed` for what is no JSON object. */
export async function askJson(question: JsonQuestion): Promise<Record<string, unknown>> {
  const { status, text } = await send(question)
  const body = parsed(text)
  if (status >= 200 && status < 300) {
    if (body) return body
    throw new BaxError('provider_failed', 'it did not answer with a JSON object')
  }
  throw refusal(question, status, body)
}

async function send({ url, headers, body, signal }: JsonQuestion): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, {
      signal,
      // A redirect could carry the key, and the question, to somebody else.
      redirect: 'manual',
      headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }), ...headers }, // prettier-ignore
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await textOf(response) }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof BaxError) throw error
    throw explainFetch(error)
  }
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > limits.search.answerBytes) throw new BaxError('provider_failed', 'its answer is too long')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined // prettier-ignore
  } catch {
    return undefined
  }
}

const sentences: readonly [statuses: readonly number[], code: ErrorCode, sentence: string][] = [
  [[401, 403], 'unauthorized', 'it refuses the key'],
  [[402, 429], 'rate_limited', 'it takes no more questions for now'],
]

function refusal({ secrets = [], complaint, codeOf }: JsonQuestion, status: number, body?: Record<string, unknown>) {
  if (status >= 300 && status < 400) return new BaxError('provider_failed', `it redirects elsewhere (status ${status}): is its address right?`) // prettier-ignore
  const said = shown(body && complaint?.(body), secrets)
  const known = sentences.find(([statuses]) => statuses.includes(status))
  const code = codeOf?.(status, said) ?? known?.[1] ?? 'provider_failed'
  const sentence = sentences.find(([, of]) => of === code)?.[2] ?? 'it failed'
  return new BaxError(code, `${sentence} (status ${status}${said && `: ${said}`})`)
}

/** A provider's own words, short and without what must not be told. */
function shown(words: unknown, secrets: readonly string[]): string {
  if (typeof words !== 'string') return ''
  const text = secrets.reduce((left, secret) => left.replaceAll(secret, '***'), oneLine(words).replace(/\.$/, ''))
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}

/**
 * The entries of a list that name an address.
 * @throws BaxError `provider_failed` when it is no list, or has entries and none of them does.
 */
export function entriesOf(list: unknown, address: string): Record<string, unknown>[] {
  const unknown = new BaxError('provider_failed', 'it answered in an unknown form')
  if (!Array.isArray(list)) throw unknown
  const entries = list.filter((entry) => typeof entry === 'object' && entry !== null && typeof entry[address] === 'string') // prettier-ignore
  if (list.length > 0 && entries.length === 0) throw unknown
  return entries as Record<string, unknown>[]
}

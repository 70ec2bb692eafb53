/** A single HTTP request with the cookies of a session or a profile, outside of any page. */
import { asBaxError, BaxError, messageOf } from '../../core/errors/errors.ts'
import { assertMaySkipTls, type TlsRule, withTlsHint } from '../../core/errors/certificates.ts'
import type { Requests } from '../../core/engine.ts'
import { noIdentity } from '../../core/identity.ts'
import type { Call } from '../../core/operation/call.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import type { RequestAnswer, RequestInput } from '../../core/shapes/read/request.ts'
import type { ProfileStore } from '../../core/stores.ts'
import { runQueued } from '../browser/live/control-wait.ts'
import type { LiveSession } from '../browser/ports/session.ts'
import type { FindSession } from '../browser/session/own-session.ts'
import { shownUrl } from '../browser/tabs/page-events.ts'
import type { Egress, RequestRules } from '../egress/egress.ts'
import { cutWarning } from '../render/http/decompress.ts'
import { scrapeUrl } from '../render/http/web-url.ts'
import { ReadIdentity } from '../render/identity/identity.ts'
import type { RequestSigner } from '../render/identity/safe-signer.ts'
import { openIdentity, signerOf } from '../scrape/identity/open-identity.ts'
import { exchange, type Received, type RequestBody } from './exchange.ts'
import { openSessionIdentity } from './session-identity.ts'

export interface RequestContext extends TlsRule {
  readonly egress: Egress
  readonly profiles: Pick<ProfileStore, 'load' | 'update'>
  readonly live: FindSession
  readonly botKey: () => Promise<RequestSigner | undefined>
}

interface Prepared {
  readonly input: RequestInput
  readonly start: URL
  readonly method: string
  readonly body: RequestBody | undefined
}

/** @throws BaxError `invalid_request`, `url_blocked`, `timeout`, and the errors of sessions, profiles and connections */
export async function sendRequest(
  context: RequestContext,
  input: RequestInput,
  call: Call,
): ReturnType<Requests['send']> {
  assertMaySkipTls(input, context)
  return prepareAndSend(context, input, call).catch((error: unknown) => {
    throw input.skip_tls_verification ? error : withTlsHint(error, context)
  })
}

async function prepareAndSend(context: RequestContext, input: RequestInput, call: Call): ReturnType<Requests['send']> {
  const body = bodyIn(input)
  const start = new URL(scrapeUrl(input.url))
  const prepared = { input, start, body, method: input.method ?? (body ? 'POST' : 'GET') }
  if (input.session_id === undefined) return sendWithProfile(context, prepared, call)
  if (input.profile !== undefined || input.save_profile)
    throw invalid(input.profile === undefined ? 'save_profile' : 'profile', 'cannot be combined with session_id')
  const session = context.live(input.session_id, call.caller)
  return runQueued(session, call, { timeout_ms: input.timeout_ms }, () =>
    sendInSession(context, session, prepared, call),
  )
}

async function sendWithProfile(
  { egress, profiles, botKey }: RequestContext,
  prepared: Prepared,
  { caller, signal }: Call,
) {
  const { start } = prepared
  const input = { ...noIdentity, ...prepared.input }
  const opened = await openIdentity(input, { profiles: async () => profiles, botKey, caller, start })
  const identity = opened?.identity ?? new ReadIdentity({ input, start })
  const save = async () => opened?.save()
  return answered(send(prepared, identity, egress.rulesFor(caller.keyId), [signal]), save)
}

async function sendInSession({ egress, botKey }: RequestContext, session: LiveSession, prepared: Prepared, call: Call) {
  const { input, start } = prepared
  const { owner } = session
  const signals = [call.signal, session.ended]
  const rules = await rulesOf(session, egress)
  await askFirst(session, prepared, signals)
  const signer = input.sign ? await signerOf(botKey) : undefined
  const { headers, cookies, user_agent, skip_tls_verification } = input
  const facts = { start, ...(signer && { signer }) }
  const { identity, store } = await openSessionIdentity(
    session,
    { headers, cookies, user_agent, skip_tls_verification },
    facts,
  )
  return answered(send(prepared, identity, { ...rules, from: owner }, signals), store)
}

/** Keeps the cookies of a request, also if it fails: a login may have succeeded before its redirect failed. */
async function answered(sent: Promise<Received>, keep: () => Promise<string | undefined>): Promise<RequestAnswer> {
  const received = await sent.catch(async (error: unknown) => {
    const lost = await keep().catch(messageOf)
    if (lost === undefined) throw error
    const { code, message, hint, details } = asBaxError(error)
    throw new BaxError(code, `${message} (${lost})`, {
      cause: error,
      ...(hint && { hint }),
      ...(details && { details }),
    })
  })
  return answerOf(received, await keep())
}

/** Returns the rules of the session's connections: its allowed domains, and its own proxy or those of the environment. */
async function rulesOf(
  { input: { allowed_domains, proxy }, owner }: LiveSession,
  egress: Egress,
): Promise<RequestRules> {
  const rules = egress.rulesFor(owner, allowed_domains)
  if (!proxy) return rules
  const { sessionProxy } = await import('../egress/chain.ts')
  return { ...rules, proxyFor: (await sessionProxy(proxy, egress, owner)).proxyFor }
}

/** Waits for a person if the session holds forms: a request can send the same. */
async function askFirst(
  { approvals }: LiveSession,
  { method, start }: Prepared,
  signals: readonly AbortSignal[],
): Promise<void> {
  if (!approvals?.confirms('submit') || method === 'GET' || method === 'HEAD') return
  const running = approvals.begin({ command: 'request' }, signals[0]!)
  try {
    await approvals.ask({ kind: 'submit', summary: `${method} ${shownUrl(start.href)}`, url: '' }, signals)
  } finally {
    running.end()
  }
}

function send(
  { input, start, method, body }: Prepared,
  identity: ReadIdentity,
  egress: RequestRules,
  signal: readonly AbortSignal[],
): Promise<Received> {
  const { timeout_ms: ms, max_redirects: maxRedirects, max_bytes: maxBytes } = input
  const work = (inner: AbortSignal) =>
    exchange({ url: start.href, method, body, maxRedirects, maxBytes, identity, egress, signal: inner })
  const error = `the request did not complete within ${ms} ms`
  return withDeadline(work, { ms, error, signal })
}

function bodyIn({ body, body_base64, body_json }: RequestInput): RequestBody | undefined {
  const given = Object.entries({ body, body_base64, body_json }).filter(([, value]) => value !== undefined)
  if (given.length > 1) throw invalid(given[1]![0], `cannot be combined with ${given[0]![0]}`)
  if (body !== undefined) return { bytes: Buffer.from(body), type: 'text/plain;charset=utf-8' }
  if (body_base64 !== undefined) return { bytes: Buffer.from(body_base64, 'base64'), type: 'application/octet-stream' }
  return body_json === undefined
    ? undefined
    : { bytes: Buffer.from(JSON.stringify(body_json)), type: 'application/json' }
}

const invalid = (path: string, message: string): BaxError =>
  new BaxError('invalid_request', `${path} ${message}`, { details: [{ path, message }] })

function answerOf({ url, status, headers, redirects, bytes, isCut }: Received, unsaved?: string): RequestAnswer {
  const warning = [isCut && cutWarning, unsaved].filter(Boolean).join('; ')
  const entries = headers
    .pairs()
    .map(([name, value]) => [name, name === 'set-cookie' ? headers.all(name).join('\n') : value])
  return {
    success: true,
    url: withoutPassword(url),
    status,
    headers: Object.fromEntries(entries),
    redirects: redirects.map((one) => ({ ...one, url: withoutPassword(one.url) })),
    size: bytes.length,
    ...contentOf(bytes),
    ...(warning && { warning }),
  }
}

function contentOf(bytes: Uint8Array): Pick<RequestAnswer, 'body' | 'body_base64'> {
  try {
    // Lossless: without an error, encoding the text again yields the same bytes.
    return { body: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch {
    return { body_base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64') }
  }
}

function withoutPassword(href: string): string {
  const url = new URL(href)
  url.username = ''
  url.password = ''
  return url.href
}

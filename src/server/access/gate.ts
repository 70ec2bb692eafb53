/** Access checks for every request and websocket upgrade. They run before a body is read, and fail closed. */
import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { type Access, type Caller, keylessCaller, isAllowed, anonymousCaller } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { keyPrefix, type KeyRing } from '../../core/access/keys.ts'
import type { AppEnv } from '../request/env.ts'
import { incomingOf } from '../request/requests.ts'
import { accessesAt } from '../request/routes.ts'
import { refuse } from './sign-answers.ts'
import {
  forwardedHeader,
  type ForwardedVerifier,
  type Refusal,
  type RequestLine,
  type Verified,
} from './signed-caller.ts'

export interface Gate {
  /**
   * Accepted `Host` names, without port; null for no check (a unix socket, a call within the process). Guards servers
   * without keys against DNS rebinding; servers that require keys accept any host.
   */
  readonly hosts: ReadonlySet<string> | null
  /** Web origins allowed to call; none by default, so that no web page can control a local server. */
  readonly origins: ReadonlySet<string>
  /** Null where only the machine's own user can connect, so that no key is required. */
  readonly keys: KeyRing | null
  /** Throws while no caller can be served, e.g. when the state folder is missing. */
  readonly checkReady?: () => void
  /** Set on a worker: only requests that a gateway has checked and signed are accepted, whatever the other rules. */
  readonly forwarded?: ForwardedVerifier
}

/** The caller, and what a gateway says about the request. */
export type Admission = Pick<Verified, 'caller'> & Partial<Verified>

/** For transports that only the machine's own user can reach: a private socket, a call within the process. */
export const privateGate: Gate = { hosts: null, origins: new Set(), keys: null }

export const loopbackHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Identifies the caller; rejects unknown callers except for public operations and those that accept a token. */
export function authenticate(gate: Gate): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    const { raw, path, method } = context.req
    const target = incomingOf(context.env)?.url ?? raw.url.slice(new URL(raw.url).origin.length)
    const accesses = accessesAt(method, path)
    try {
      const line = { method: raw.method, target, headers: raw.headers }
      const { caller, requestId, reservation, body } = admit(raw, line, gate, accesses)
      context.set('caller', caller)
      if (requestId !== undefined) context.set('requestId', requestId)
      if (reservation !== undefined) context.set('reservation', reservation)
      if (body) context.set('signedBody', body)
    } catch (error) {
      // The gateway is at fault, not its caller.
      if (gate.forwarded) refuse(context, refusalFor(error))
      throw error
    }
    await next()
  }
}

/** A worker that cannot accept any request yet, or too many at once, leaves it to another one with its own error. */
export const refusalFor = (error: unknown): Refusal =>
  error instanceof BaxError && error.code !== 'unauthorized' ? 'unavailable' : 'signature'

/** Answers CORS preflights, which carry no key, and lets pages of allowed origins read responses. */
export function allowOrigins({ origins }: Gate): MiddlewareHandler<AppEnv> {
  const share = cors({
    origin: [...origins],
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    exposeHeaders: ['x-request-id', 'x-bax-version', 'retry-after', 'etag', 'content-disposition'],
    maxAge: 600,
  })
  return (context, next) => (origins.has(context.req.header('origin') ?? '') ? share(context, next) : next())
}

/** Rejects callers whose key lacks the scope of the operation. */
export const requireScope =
  (access: Access): MiddlewareHandler<AppEnv> =>
  async (context, next) => {
    checkScope(context.get('caller'), access)
    await next()
  }

/**
 * Identifies the caller of a request: on a worker by the signature of the gateway, else by `identifyCaller`.
 * @throws BaxError `unauthorized` and those of `identifyCaller`
 */
export function admit(
  request: Pick<Request, 'headers' | 'url'>,
  line: RequestLine,
  gate: Gate,
  accesses: readonly Access[],
): Admission {
  if (gate.forwarded) return gate.forwarded.verify(request.headers.get(forwardedHeader), line)
  return { caller: identifyCaller(request, gate, accesses) }
}

/**
 * Returns the caller of a request. `accesses` are those of the operations at its URL; an unknown URL needs a key.
 * @throws BaxError `bad_host`, `bad_origin`, `unauthorized`, or `not_ready` while keys cannot be read.
 */
function identifyCaller(
  { headers, url }: Pick<Request, 'headers' | 'url'>,
  { hosts, origins, keys, checkReady }: Gate,
  accesses: readonly Access[],
): Caller {
  const required = keys?.required() ?? false
  if (!required && hosts !== null) checkHost(headers, hosts)
  const byToken = accesses.some(({ token }) => token)
  if (!accesses.some(({ page }) => page)) checkOrigin(headers, origins, byToken)
  const isPublic = accesses.some(({ scope }) => scope === 'public')
  if (!isPublic) checkReady?.()
  if (keys === null || !required) return keylessCaller
  if (isPublic) return anonymousCaller
  keys.check()
  refuseKeyInQuery(url)
  const credential = credentialOf(headers)
  if (byToken && !credential?.startsWith(keyPrefix)) {
    refuseOtherToken(url, credential)
    return anonymousCaller
  }
  if (credential !== undefined) return keys.callerOf(credential)
  throw new BaxError('unauthorized', 'a key is required', {
    hint: 'send it as `x-api-key: KEY` or `Authorization: Bearer KEY`; for the command line, set BAX_API_KEY',
  })
}

/** @throws BaxError `forbidden_scope`, or `unauthorized` when the request has no credential at all. */
export function checkScope(caller: Caller, access: Access): void {
  if (isAllowed(caller, access) || (caller === anonymousCaller && access.token)) return
  if (caller === anonymousCaller) throw new BaxError('unauthorized', 'a key is required')
  const scopes = [access.scope].flat()
  throw new BaxError('forbidden_scope', `the key lacks the scope ${scopes.join(' or ')}`, {
    hint: 'use another key, or create one with "bax key create NAME --scopes …"',
    details: { scopes },
  })
}

function checkHost(headers: Headers, hosts: ReadonlySet<string>): void {
  const host = (headers.get('host') ?? '').replace(/:\d+$/, '').toLowerCase()
  if (hosts.has(host)) return
  throw new BaxError('bad_host', `the host ${JSON.stringify(host)} is not allowed`, {
    hint: 'use 127.0.0.1 or localhost, or start the server with --allow-host NAME',
  })
}

/** `ownPages` also allows pages of this server, such as the live view, which authenticate with a token. */
function checkOrigin(headers: Headers, origins: ReadonlySet<string>, ownPages: boolean): void {
  const origin = headers.get('origin')
  const isOwnPage = ownPages && origin?.replace(/^https?:\/\//, '') === headers.get('host')
  if (origin !== null && !origins.has(origin) && !isOwnPage)
    throw new BaxError('bad_origin', 'calls from this web origin are not allowed')
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'none' && site !== 'same-origin' && origin === null)
    throw new BaxError('bad_origin', 'calls from web pages are not allowed')
}

/** Returns the key or token in the headers. @throws BaxError `unauthorized` when two headers differ. */
export function credentialOf(headers: Headers): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.get('authorization')?.trim() ?? '')?.[1]
  const plain = headers.get('x-api-key')?.trim() || undefined
  if (bearer !== undefined && plain !== undefined && bearer !== plain)
    throw new BaxError('unauthorized', 'x-api-key and Authorization contain different keys', {
      hint: 'send only one of them',
    })
  return plain ?? bearer
}

/** Rejects a token in a header beside another one in the URL: only the one in the URL would be checked. */
function refuseOtherToken(url: string, credential: string | undefined): void {
  const token = new URL(url).searchParams.get('token')
  if (credential === undefined || token === null || token === credential) return
  throw new BaxError('unauthorized', 'the URL and the headers contain different tokens', {
    hint: 'send only one of them',
  })
}

/** Rejects keys in the query: URLs end up in logs, histories and the headers of other requests. */
function refuseKeyInQuery(url: string): void {
  if (!url.includes('?')) return
  for (const value of new URL(url).searchParams.values()) {
    if (!/^bax_[\w-]{43}$/.test(value)) continue
    throw new BaxError('unauthorized', 'keys in the URL are not accepted', {
      hint: 'send the key in the x-api-key header, and replace it: this one may have been logged',
    })
  }
}

/** The gate in front of every request and every websocket: fails closed, before anything is read or run. */
import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { type Access, type Caller, everybody, isAllowed, nobody } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { keyPrefix, type KeyRing } from '../../core/access/keys.ts'
import type { AppEnv } from '../request/env.ts'
import { accessesAt } from '../request/routes.ts'

export interface Gate {
  /**
   * Host names (without port) that a request may be addressed to; null where no name is checked (a unix socket,
   * a call within the process). Guards a server without keys against DNS rebinding; where keys are asked for, any will do.
   */
  readonly hosts: ReadonlySet<string> | null
  /** Web origins that may call; none by default, so that no web page can drive a local server. */
  readonly origins: ReadonlySet<string>
  /** Null where only the machine's own user gets to: no key is asked for. */
  readonly keys: KeyRing | null
  /** Throws when nobody can be served now, as when the state folder is gone. */
  readonly checkReady?: () => void
}

/** For ways in that only the machine's own user has: a private socket, a call within the process. */
export const privateGate: Gate = { hosts: null, origins: new Set(), keys: null }

export const loopbackHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Lets nobody pass whom it does not know, except to what is public and to what tokens open. */
export function gateKeeper(gate: Gate): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    const { raw, path, method } = context.req
    context.set('caller', admit(raw, gate, accessesAt(method, path)))
    await next()
  }
}

/** Lets web pages of the origins that are allowed read the answers. A browser asks beforehand, without showing a key. */
export function shareWith({ origins }: Gate): MiddlewareHandler<AppEnv> {
  const share = cors({
    origin: [...origins],
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    exposeHeaders: ['x-request-id', 'x-bax-version', 'retry-after', 'etag', 'content-disposition'],
    maxAge: 600,
  })
  return (context, next) => (origins.has(context.req.header('origin') ?? '') ? share(context, next) : next())
}

/** Turns away callers whose key does not allow the operation. */
export const permit =
  (access: Access): MiddlewareHandler<AppEnv> =>
  async (context, next) => {
    checkScope(context.get('caller'), access)
    await next()
  }

/**
 * Who sends a request. `accesses` are those of the operations at its address; an unknown address needs a key.
 * @throws BaxError `bad_host`, `bad_origin`, `unauthorized`, or `not_ready` while nobody can be known.
 */
export function admit(
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
  if (keys === null || !required) return everybody
  if (isPublic) return nobody
  keys.check()
  refuseKeyInQuery(url)
  const shown = shownIn(headers)
  if (byToken && !shown?.startsWith(keyPrefix)) return nobody
  if (shown !== undefined) return keys.callerOf(shown)
  throw new BaxError('unauthorized', 'a key is needed', {
    hint: 'send it as `x-api-key: KEY` or `Authorization: Bearer KEY`; the terminal takes BAX_API_KEY',
  })
}

/** @throws BaxError `forbidden_scope`, or `unauthorized` for who has shown nothing at all. */
export function checkScope(caller: Caller, access: Access): void {
  if (isAllowed(caller, access) || (caller === nobody && access.token)) return
  if (caller === nobody) throw new BaxError('unauthorized', 'a key is needed')
  const scopes = [access.scope].flat()
  throw new BaxError('forbidden_scope', `this key does not allow it: it needs the scope ${scopes.join(' or ')}`, {
    hint: 'use another key; `bax key create NAME --scopes …` makes one',
    details: { scopes },
  })
}

function checkHost(headers: Headers, hosts: ReadonlySet<string>): void {
  const host = (headers.get('host') ?? '').replace(/:\d+$/, '').toLowerCase()
  if (hosts.has(host)) return
  throw new BaxError('bad_host', 'this Host is not served here', {
    hint: 'use 127.0.0.1 or localhost, or start the server with --allow-host NAME',
  })
}

/** What a token opens, pages of this very server may open too: the live view does. */
function checkOrigin(headers: Headers, origins: ReadonlySet<string>, ownPages: boolean): void {
  const origin = headers.get('origin')
  const isOwn = ownPages && origin?.replace(/^https?:\/\//, '') === headers.get('host')
  if (origin !== null && !origins.has(origin) && !isOwn)
    throw new BaxError('bad_origin', 'calls from this web origin are not allowed')
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'none' && site !== 'same-origin' && origin === null)
    throw new BaxError('bad_origin', 'calls from web pages are not allowed')
}

/** What a header shows: a key, or a token where one is asked for. @throws BaxError `unauthorized` when two differ. */
export function shownIn(headers: Headers): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.get('authorization')?.trim() ?? '')?.[1]
  const plain = headers.get('x-api-key')?.trim() || undefined
  if (bearer !== undefined && plain !== undefined && bearer !== plain)
    throw new BaxError('unauthorized', 'x-api-key and Authorization show different keys', { hint: 'send one of them' })
  return plain ?? bearer
}

/** An address is written into logs, histories and the headers of other requests. */
function refuseKeyInQuery(url: string): void {
  if (!url.includes('?')) return
  for (const value of new URL(url).searchParams.values()) {
    if (!/^bax_[\w-]{43}$/.test(value)) continue
    throw new BaxError('unauthorized', 'a key in the address is not accepted', {
      hint: 'send it as the header x-api-key, and make another one: this one may have been logged',
    })
  }
}

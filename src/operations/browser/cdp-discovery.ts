/** Chrome's discovery endpoints for CDP clients with an http URL: `/json/version` and `/json/list`. */
import { z } from 'zod'
import type { Call } from '../../core/operation/call.ts'
import { defineOperation } from '../../core/operation/operation.ts'
import { type OnOnly, onAnySession } from '../../core/operation/placement.ts'
import { anonymousCaller, tokenOf } from '../../core/access/caller.ts'
import type { Engine } from '../../core/engine.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Link, LinkHandlers } from '../../core/net/link.ts'
import { identifier, opaqueText } from '../../core/shapes/fields.ts'
import type { SessionList } from './sessions.ts'

const input = z.object({
  session_id: identifier
    .optional()
    .describe('Session or relay session, by id or name; the only existing one when omitted'),
  token: opaqueText.optional().describe('The frame_token of the session, or the token of the relay session'),
})

const errors = ['session_closed', 'relay_disconnected', 'browser_lost', 'conflict', 'unsupported', 'timeout'] as const

/** The list that `onlyOne` reads, which only contains sessions visible to the caller. */
const onlySession: OnOnly = {
  on: 'only',
  kinds: ['session', 'relay'],
  list: 'GET /sessions?status=ready&include=relay',
  pick: (listed) => {
    const { sessions, relay_sessions: relays = [] } = listed as SessionList
    return theOnly([...sessions.map(({ session_id: id }) => id), ...relays.map(({ id }) => id)])
  },
}

const answers = {
  scope: ['browser', 'relay'],
  runs: { ...onAnySession, absent: onlySession },
  token: true,
  input,
  errors,
} as const

export const cdpVersion = defineOperation({
  ...answers,
  summary: 'Get the websocket URL of a browser',
  description:
    'First request of clients with `browserURL` or `connectOverCDP(http://…)`. For a session, a relay session, or (at the ' +
    'root) the only existing one. `webSocketDebuggerUrl` contains a credential for clients that send none themselves: ' +
    'the token of this request, or a ticket for one connection within a minute.',
  http: 'GET /sessions/{session_id}/cdp/json/version',
  aliases: [
    'GET /sessions/{session_id}/cdp/json/version/',
    'GET /relay/sessions/{session_id}/cdp/json/version',
    'GET /relay/sessions/{session_id}/cdp/json/version/',
    'GET /json/version',
    'GET /json/version/',
  ],
  output: z.object({
    Browser: z.string(),
    'Protocol-Version': z.string(),
    'User-Agent': z.string(),
    'V8-Version': z.string(),
    webSocketDebuggerUrl: z.string(),
  }),
  run: async (engine, request, call) => {
    const target = await resolveTarget(engine, request, call)
    const { product, protocolVersion, userAgent, jsVersion } = await ask(target.open, 'Browser.getVersion')
    return {
      Browser: String(product),
      'Protocol-Version': String(protocolVersion),
      'User-Agent': String(userAgent),
      'V8-Version': String(jsVersion),
      webSocketDebuggerUrl: await target.url(),
    }
  },
})

export const cdpTargets = defineOperation({
  ...answers,
  summary: 'List the pages of a browser',
  http: 'GET /sessions/{session_id}/cdp/json/list',
  aliases: [
    'GET /sessions/{session_id}/cdp/json/list/',
    'GET /sessions/{session_id}/cdp/json',
    'GET /relay/sessions/{session_id}/cdp/json/list',
    'GET /relay/sessions/{session_id}/cdp/json/list/',
    'GET /relay/sessions/{session_id}/cdp/json',
    'GET /json/list',
    'GET /json/list/',
    'GET /json',
  ],
  output: z.array(z.object({ id: z.string(), type: z.string(), title: z.string(), url: z.string() })),
  // The list has no room for a warning.
  withWarning: (output) => output,
  run: async (engine, request, call) => {
    const { open } = await resolveTarget(engine, request, call)
    const { targetInfos } = await ask(open, 'Target.getTargets')
    const targets = targetInfos as { targetId: string; type: string; title: string; url: string }[]
    return targets.map(({ targetId: id, type, title, url }) => ({ id, type, title, url }))
  },
})

interface Target {
  /** Attaches the link of a client. */
  readonly open: (link: Link) => void
  /** Returns a websocket URL with a credential. */
  url(): Promise<string>
}

/** Resolves the requested session and authorizes the caller like a CDP client, by its token or key. */
async function resolveTarget(engine: Engine, request: z.output<typeof input>, call: Call): Promise<Target> {
  // Never put a key into a URL: clients send it themselves.
  const token = tokenOf(request.token, call)
  if (token === null && call.caller === anonymousCaller)
    throw new BaxError('unauthorized', 'a key or a token is required')
  const id = request.session_id ?? (await onlyOne(engine, call))
  const relay = (await engine.relays.list(call)).find((one) => one.id === id || one.name === id)
  if (relay || id.startsWith('rly_')) {
    const own = relay?.cdp_url ? new URL(relay.cdp_url).searchParams.get('token') : null
    const credential = token ?? own
    const base = `${socketBase(call)}/relay/sessions/${relay?.id ?? id}/cdp`
    return {
      open: await engine.relays.openClient(id, credential, call),
      url: async () => withToken(base, credential),
    }
  }
  const sessionId = token === null ? (await engine.sessions.get(id, call)).session_id : id
  const ticket = async () => token ?? (await engine.sessions.ticket(sessionId, call))
  const base = `${socketBase(call)}/sessions/${sessionId}/cdp`
  return {
    open: await engine.sessions.openClient(sessionId, await ticket(), call),
    url: async () => withToken(base, await ticket()),
  }
}

/** Returns the ID of the only session. @throws BaxError `session_not_found` or `conflict` unless there is just one. */
async function onlyOne(engine: Engine, call: Call): Promise<string> {
  const [sessions, relays] = await Promise.all([
    engine.sessions.list({ status: 'ready' }, call),
    engine.relays.list(call),
  ])
  return theOnly([...sessions.map(({ session_id: id }) => id), ...relays.map(({ id }) => id)])
}

/** @throws BaxError `session_not_found` or `conflict` unless there is just one. */
function theOnly(ids: readonly string[]): string {
  const [id] = ids
  if (id !== undefined && ids.length === 1) return id
  const hint = 'connect to the cdp_url of a session, or to SERVER/sessions/ID/cdp'
  if (id === undefined)
    throw new BaxError('session_not_found', 'there is no session to connect to', { hint: `create one, and ${hint}` })
  throw new BaxError('conflict', `there are ${ids.length} sessions to choose from`, { hint })
}

function socketBase({ socketBaseUrl }: Call): string {
  if (socketBaseUrl !== null) return socketBaseUrl.replace(/^http/, 'ws')
  throw new BaxError('unsupported', 'this engine serves no websockets')
}

const withToken = (url: string, token: string | null): string =>
  token === null ? url : `${url}?token=${encodeURIComponent(token)}`

/** Sends one command over a temporary link. @throws BaxError `browser_lost`, `timeout`. */
function ask(open: (link: Link) => void, method: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    let client: LinkHandlers | undefined
    const end = (finish: () => void) => {
      clearTimeout(timer)
      // Only the first outcome counts; closing the link may cause another one.
      finish()
      const open = client
      client = undefined
      open?.onClose(1000, '')
    }
    const timer = setTimeout(
      () => end(() => reject(new BaxError('timeout', 'the browser does not respond'))),
      limits.relay.callMs,
    )
    open({
      buffered: 0,
      handle: (handlers) => {
        client = handlers
        queueMicrotask(() => handlers.onText(JSON.stringify({ id: 1, method })))
      },
      sendText: (text) => {
        const { id, result } = JSON.parse(text.toString()) as { id?: number; result?: Record<string, unknown> }
        if (id === 1) end(() => resolve(result ?? {}))
      },
      sendBytes: (_, onSent) => onSent(),
      close: (_, reason) => end(() => reject(new BaxError('browser_lost', reason))),
      drop: () => end(() => reject(new BaxError('browser_lost', 'the browser has disconnected'))),
    })
  })
}

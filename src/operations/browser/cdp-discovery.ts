/** Where a browser is, as Chrome itself tells clients that are given an http address: `/json/version` and `/json/list`. */
import { z } from 'zod'
import { nobody, tokenOf } from '../../core/access/caller.ts'
import type { Engine } from '../../core/engine.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Link, LinkHandlers } from '../../core/net/link.ts'
import { type Call, defineOperation } from '../../core/operation/operation.ts'
import { identifier, opaqueText } from '../../core/shapes/text.ts'

const input = z.object({
  session_id: identifier
    .optional()
    .describe('Session or relay session, by id or name; the only one that there is when not given'),
  token: opaqueText.optional().describe('The frame_token of the session, or the token of the relay session'),
})

const errors = ['unauthorized', 'session_not_found', 'session_closed', 'relay_not_found', 'relay_disconnected', 'browser_lost', 'conflict', 'unsupported', 'timeout'] as const // prettier-ignore

const answers = {
  scope: ['browser', 'relay'],
  token: true,
  cli: null,
  input,
  errors,
} as const

export const cdpVersion = defineOperation({
  ...answers,
  summary: 'Say where the websocket of a browser is: what `browserURL` and `connectOverCDP(http://…)` ask first',
  description:
    'For a session, a relay session, or (at the root) the only one that there is. `webSocketDebuggerUrl` has what lets a ' +
    'client in that shows nothing itself: the token that was shown, or a ticket that is good once and for a minute.',
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
  run: async (engine, wish, call) => {
    const way = await wayTo(engine, wish, call)
    const { product, protocolVersion, userAgent, jsVersion } = await ask(way.open, 'Browser.getVersion')
    return {
      Browser: String(product),
      'Protocol-Version': String(protocolVersion),
      'User-Agent': String(userAgent),
      'V8-Version': String(jsVersion),
      webSocketDebuggerUrl: await way.address(),
    }
  },
})

export const cdpTargets = defineOperation({
  ...answers,
  summary: 'List the pages of a browser as Chrome does',
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
  // A list has no place for one.
  warned: (output) => output,
  run: async (engine, wish, call) => {
    const { open } = await wayTo(engine, wish, call)
    const { targetInfos } = await ask(open, 'Target.getTargets')
    const targets = targetInfos as { targetId: string; type: string; title: string; url: string }[]
    return targets.map(({ targetId: id, type, title, url }) => ({ id, type, title, url }))
  },
})

interface Way {
  /** Takes the link of a client. */
  readonly open: (link: Link) => void
  /** Where a client with a websocket is let in. */
  address(): Promise<string>
}

/** Lets the caller in as a client would be, by the token or the key that it shows. */
async function wayTo(engine: Engine, wish: z.output<typeof input>, call: Call): Promise<Way> {
  // A key is shown by the client itself wherever it goes: it is never put into an address.
  const token = tokenOf(wish.token, call)
  if (token === null && call.caller === nobody) throw new BaxError('unauthorized', 'a key or a token is needed')
  const id = wish.session_id ?? (await onlyOne(engine, call))
  const relay = (await engine.relays.list(call)).find((one) => one.id === id || one.name === id)
  if (relay || id.startsWith('rly_')) {
    const own = relay?.cdp_url ? new URL(relay.cdp_url).searchParams.get('token') : null
    const shown = token ?? own
    const base = `${socketBase(call)}/relay/sessions/${relay?.id ?? id}/cdp`
    return {
      open: await engine.relays.openClient(id, shown, call),
      address: async () => withToken(base, shown),
    }
  }
  const sessionId = token === null ? (await engine.sessions.get(id, call)).session_id : id
  const ticket = async () => token ?? (await engine.sessions.ticket(sessionId, call))
  const base = `${socketBase(call)}/sessions/${sessionId}/cdp`
  return {
    open: await engine.sessions.openClient(sessionId, await ticket(), call),
    address: async () => withToken(base, await ticket()),
  }
}

/** @throws BaxError `session_not_found` or `conflict` where it is not clear which one is meant. */
async function onlyOne(engine: Engine, call: Call): Promise<string> {
  const [sessions, relays] = await Promise.all([
    engine.sessions.list({ status: 'ready' }, call),
    engine.relays.list(call),
  ])
  const ids = [...sessions.map(({ session_id: id }) => id), ...relays.map(({ id }) => id)]
  if (ids.length === 1) return ids[0]!
  const hint = 'connect to the cdp_url of a session, or to SERVER/sessions/ID/cdp'
  if (ids.length === 0)
    throw new BaxError('session_not_found', 'there is no session', { hint: `create one, and ${hint}` })
  throw new BaxError('conflict', `there are ${ids.length} sessions: it is not clear which one is meant`, { hint })
}

function socketBase({ socketBaseUrl }: Call): string {
  if (socketBaseUrl !== null) return socketBaseUrl.replace(/^http/, 'ws')
  throw new BaxError('unsupported', 'no websockets are served here')
}

const withToken = (address: string, token: string | null): string =>
  token === null ? address : `${address}?token=${encodeURIComponent(token)}`

/** Asks one thing over a link of its own. @throws BaxError `browser_lost`, `timeout`. */
function ask(open: (link: Link) => void, method: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    let client: LinkHandlers | undefined
    const end = (settle: () => void) => {
      clearTimeout(timer)
      // The first word counts: what comes of closing is none.
      settle()
      const open = client
      client = undefined
      open?.onClose(1000, '')
    }
    const timer = setTimeout(
      () => end(() => reject(new BaxError('timeout', 'the browser does not answer'))),
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
      drop: () => end(() => reject(new BaxError('browser_lost', 'the browser is gone'))),
    })
  })
}

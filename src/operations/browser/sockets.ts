/** Websockets of connectors, CDP clients and live views. */
import { z } from 'zod'
import { limits } from '../../core/limits/limits.ts'
import { defineSocket } from '../../core/operation/operation.ts'
import { onObject, onRelay, onSession } from '../../core/operation/placement.ts'
import { relayId } from '../../core/shapes/relay.ts'
import { sessionId } from './sessions.ts'
import { opaqueText } from '../../core/shapes/fields.ts'

export const relayConnect = defineSocket({
  summary: 'Connect a browser: the tunnel of `bax relay connect`',
  description: 'Requires a relay token as bearer; web pages send it as subprotocol `bax.bearer.<token>`.',
  http: 'GET /relay/connect',
  scope: 'relay',
  runs: { ...onObject('session_id', ['relay']), absent: { on: 'new', slot: 'relay' }, unknown: 'absent' },
  token: true,
  protocol: 'bax.relay.v1',
  messageBytes: limits.messages.tunnelBytes,
  compressed: true,
  input: z.object({
    session_id: relayId.optional().describe('Relay session to resume, so that a gateway finds its worker'),
  }),
  errors: ['unauthorized', 'too_many_sessions'],
  open: (engine, { session_id: id }, call) => engine.relays.admit(call, id),
})

export const relayCdp = defineSocket({
  summary: 'Connect to a relay browser over CDP',
  description: "For Playwright's connectOverCDP and Puppeteer's connect. Each client has its own CDP sessions.",
  http: 'GET /relay/sessions/{id}/cdp',
  scope: 'relay',
  runs: onRelay,
  token: true,
  messageBytes: limits.messages.cdpBytes,
  input: z.object({ id: relayId, token: opaqueText.optional().describe('Token in the cdp_url of the relay session') }),
  errors: ['unauthorized', 'relay_not_found', 'relay_disconnected', 'browser_lost'],
  open: (engine, { id, token }, call) => engine.relays.openClient(id, token ?? call.token, call),
})

export const sessionLive = defineSocket({
  summary: 'Watch and control a browser session',
  description:
    'Protocol of the live view page. The session sends JSON (hello, tabs, event, control, stage, dialog, error) and JPEG ' +
    'frames in binary. A person with a control token or a key sends take, return, mouse, key, text, dialog, navigate and ' +
    'history (schema LiveInput). Commands wait while a person has control.',
  http: 'GET /sessions/{session_id}/live',
  scope: 'browser',
  runs: onSession,
  token: true,
  protocol: 'bax.live.v1',
  messageBytes: limits.messages.liveBytes,
  input: z.object({ session_id: sessionId, token: opaqueText.optional().describe('frame_token of the session') }),
  errors: ['unauthorized', 'session_not_found', 'session_closed', 'rate_limited'],
  open: (engine, { session_id: id, token }, call) => engine.sessions.openLiveView(id, token ?? call.token, call),
})

export const sessionCdp = defineSocket({
  summary: 'Connect to a browser session over CDP',
  description:
    "For Playwright's connectOverCDP and Puppeteer's connect. Clients see only the pages of the session, and nothing else " +
    'in the shared browser.',
  http: 'GET /sessions/{session_id}/cdp',
  scope: 'browser',
  runs: onSession,
  token: true,
  messageBytes: limits.messages.cdpBytes,
  input: z.object({ session_id: sessionId, token: opaqueText.optional().describe('frame_token of the session') }),
  errors: ['unauthorized', 'session_not_found', 'session_closed', 'rate_limited', 'unsupported'],
  open: (engine, { session_id: id, token }, call) => engine.sessions.openClient(id, token ?? call.token, call),
})

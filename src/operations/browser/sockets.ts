/** Websockets: the one that connectors come by, and those for clients that speak CDP. */
import { z } from 'zod'
import { limits } from '../../core/limits/limits.ts'
import { defineSocket } from '../../core/operation/socket.ts'
import { relayId } from './relay.ts'
import { sessionId } from './sessions.ts'
import { opaqueText } from '../../core/shapes/text.ts'

export const relayConnect = defineSocket({
  summary: 'Bring a browser: the tunnel of `bax relay connect`',
  description: 'Needs a relay token as bearer; a websocket of a web page shows it as subprotocol `bax.bearer.<token>`.',
  http: 'GET /relay/connect',
  scope: 'relay',
  token: true,
  protocol: 'bax.relay.v1',
  messageBytes: limits.messages.tunnelBytes,
  compressed: true,
  input: z.object({}),
  errors: ['unauthorized'],
  open: (engine, _input, call) => engine.relays.admit(call),
})

export const relayCdp = defineSocket({
  summary: 'Speak the Chrome DevTools Protocol with a browser of the relay',
  description: 'For connectOverCDP of Playwright and connect of Puppeteer. Every client has sessions of its own.',
  http: 'GET /relay/sessions/{id}/cdp',
  scope: 'relay',
  token: true,
  messageBytes: limits.messages.cdpBytes,
  input: z.object({ id: relayId, token: opaqueText.optional().describe('As in the cdp_url of the relay session') }),
  errors: ['unauthorized', 'relay_not_found', 'relay_disconnected', 'browser_lost'],
  open: (engine, { id, token }, call) => engine.relays.openClient(id, token ?? call.token, call),
})

export const sessionLive = defineSocket({
  summary: 'Watch a browser session, and drive it by hand',
  description:
    'What the live view page speaks. The session tells, in JSON: hello, tabs, event, control, stage, dialog, error; and ' +
    'pictures as JPEG in bytes. A person with a control token, or a key, says: take, return, mouse, key, text, dialog, ' +
    'navigate, history (schema LiveInput). While the control is taken, commands wait for their turn.',
  http: 'GET /sessions/{session_id}/live',
  scope: 'browser',
  token: true,
  protocol: 'bax.live.v1',
  messageBytes: limits.messages.liveBytes,
  input: z.object({ session_id: sessionId, token: opaqueText.optional().describe('A frame_token of the session') }),
  errors: ['unauthorized', 'session_not_found', 'session_closed', 'rate_limited'],
  open: (engine, { session_id: id, token }, call) => engine.sessions.openLiveView(id, token ?? call.token, call),
})

export const sessionCdp = defineSocket({
  summary: 'Speak the Chrome DevTools Protocol with a browser session',
  description:
    'For connectOverCDP of Playwright and connect of Puppeteer: they see the pages of the session and nothing else of ' +
    'the browser that it shares.',
  http: 'GET /sessions/{session_id}/cdp',
  scope: 'browser',
  token: true,
  messageBytes: limits.messages.cdpBytes,
  input: z.object({ session_id: sessionId, token: opaqueText.optional().describe('The frame_token of the session') }),
  errors: ['unauthorized', 'session_not_found', 'session_closed', 'rate_limited', 'unsupported'],
  open: (engine, { session_id: id, token }, call) => engine.sessions.openClient(id, token ?? call.token, call),
})

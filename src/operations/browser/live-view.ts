import { z } from 'zod'
import { defineOperation } from '../../core/operation/operation.ts'
import { liveViewLink } from '../../core/shapes/live-view.ts'
import { sessionId } from './sessions.ts'

export const linkLiveView = defineOperation({
  summary: 'Make an address that shows a session live',
  description:
    'Whoever has the address sees the session; with control also drives it: mouse, keyboard, paste and dialogs, for a ' +
    'login or a captcha. While a person has the control, commands wait for their turn.',
  http: 'POST /live_view/{session_id}',
  scope: 'browser',
  cli: 'session view',
  example: 'bax session view -s shop --control',
  show: { as: 'field', field: 'live_view_url' },
  input: z.object({
    session_id: sessionId,
    control: z.boolean().default(false).describe('Let whoever has the address drive the session too'),
  }),
  output: liveViewLink,
  errors: ['session_not_found', 'session_closed', 'unsupported', 'rate_limited'],
  run: (engine, { session_id, control }, call) => engine.sessions.linkLiveView(session_id, control, call),
})

import { z } from 'zod'
import { flag } from '../../core/shapes/fields.ts'
import { defineOperation } from '../../core/operation/operation.ts'
import { liveViewLink } from '../../core/shapes/live-view.ts'
import { sessionId } from './sessions.ts'

export const linkLiveView = defineOperation({
  summary: 'Create a live view URL of a session',
  description:
    'Anyone with the URL can watch the session; with control they can also use mouse, keyboard, paste and dialogs, for a ' +
    'login or a captcha. Commands wait while a person has control.',
  http: 'POST /live_view/{session_id}',
  scope: 'browser',
  cli: 'session view',
  example: 'bax session view -s shop --control',
  show: { as: 'field', field: 'live_view_url' },
  input: z.object({
    session_id: sessionId,
    control: flag('Allow anyone with the URL to control the session'),
  }),
  output: liveViewLink,
  errors: ['session_not_found', 'session_closed', 'unsupported', 'rate_limited'],
  run: (engine, { session_id, control }, call) => engine.sessions.linkLiveView(session_id, control, call),
})

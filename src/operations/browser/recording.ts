/** Recordings of what a person does in a session. */
import { z } from 'zod'
import { defineOperation } from '../../core/operation/operation.ts'
import { onAnySession } from '../../core/operation/placement.ts'
import { recordingAction, recordingState } from '../../core/shapes/recording.ts'
import { pageFailures, sessionId } from './sessions.ts'
import { samples } from '../samples.ts'

export const recordSession = defineOperation({
  summary: 'Record the input of a session as steps',
  description:
    'start begins recording, status returns the steps so far, stop ends it and returns all steps. Each step is also sent ' +
    'as an event `recording.step`; an event with the same index replaces the step. In the terminal: `bax record`.',
  http: 'POST /sessions/{session_id}/recording',
  scope: 'browser',
  runs: onAnySession,
  // No command: `bax record` writes the steps as a script.
  sample: { ...samples.session, action: 'start' },
  input: z.object({ session_id: sessionId, action: recordingAction.describe('start, stop or status') }),
  output: recordingState,
  errors: ['session_not_found', 'session_closed', 'conflict', 'unsupported', ...pageFailures],
  run: (engine, { session_id, action }, call) => engine.sessions.record(session_id, action, call),
})

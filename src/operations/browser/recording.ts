/** Scripts of what was done in a session: recordings of a person, and the commands of all callers. */
import { z } from 'zod'
import { defineDownload, defineOperation } from '../../core/operation/operation.ts'
import { onAnySession, onSession } from '../../core/operation/placement.ts'
import {
  firstCommand,
  recordingAction,
  recordingState,
  scriptFormat,
  sessionScript,
} from '../../core/shapes/recording.ts'
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
  errors: ['session_closed', 'conflict', 'unsupported', ...pageFailures],
  run: (engine, { session_id, action }, call) => engine.sessions.record(session_id, action, call),
})

export const getSessionScript = defineOperation({
  summary: 'Write what was done to a session as a script',
  description:
    'Returns the commands of all callers as a script that runs as it is: failed, repeated and undone commands are left ' +
    'out, elements have selectors by role and name and fingerprints, secrets are references to environment variables, ' +
    'and reads are expectations. In the terminal: `bax session script`.',
  http: 'GET /sessions/{session_id}/script',
  scope: 'browser',
  runs: onAnySession,
  sample: samples.session,
  input: z.object({
    session_id: sessionId,
    format: scriptFormat.default('yaml').describe('yaml for bax run, or playwright: a test for @playwright/test'),
    from: firstCommand.default(1).describe('Number of the first command, from 1'),
  }),
  output: sessionScript,
  errors: ['session_closed', 'unsupported'],
  run: (engine, { session_id, ...request }, call) => engine.sessions.script(session_id, request, call),
})

export const replaySession = defineDownload({
  summary: 'Save what happened in a session as HTML',
  description:
    'One file without external resources: each command with its outcome, the page before and after it, console, network, ' +
    'downloads, observations and approvals. For a session that was created with `replay: true`, also for some minutes after its end. Text of ' +
    'password fields and likely credentials are redacted. What is left out to keep the file below 5 MB is stated in it.',
  http: 'GET /diagnostics/{session_id}/replay',
  scope: 'browser',
  runs: onSession,
  cli: 'session replay',
  example: ['bax session replay -o run.html', 'bax session replay -s shop -o run.html'],
  sample: samples.session,
  input: z.object({ session_id: sessionId }),
  errors: ['session_closed', 'conflict'],
  mediaType: 'text/html',
  open: (engine, { session_id }, call) => engine.diagnostics.replay(session_id, call),
})

/** Starts and stops the recordings of sessions; a recording ends with its session. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { RecordingAction, RecordingState } from '../../../core/shapes/recording.ts'
import { oncePer } from '../../../core/once-per.ts'
import type { LiveSession } from '../ports/session.ts'
import { privacyOf } from '../privacy/privacy.ts'
import { Recording } from './recording.ts'

/** Origin of a recording: an API request, such as that of `bax record`, or the live view. */
type Starter = 'request' | 'live view'

interface Running {
  readonly recording: Recording
  readonly starter: Starter
}

const recordings = new WeakMap<LiveSession, Running>()
const listenersOf = oncePer((_session: LiveSession) => new Set<() => void>())

/** Returns the running recording of a session. */
export const recordingOf = (session: LiveSession): Running | undefined => recordings.get(session)

/** Calls `listener` after a recording has started or stopped; returns a function that ends it. */
export function watchRecordings(session: LiveSession, listener: () => void): () => void {
  const listeners = listenersOf(session)
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** @throws BaxError `conflict` when the recording is not in the state that the action requires, `unsupported`. */
export const recordSession = (session: LiveSession, action: RecordingAction): Promise<RecordingState> =>
  session.use(() => runAction(session, action))

async function runAction(session: LiveSession, action: RecordingAction): Promise<RecordingState> {
  const recording = recordings.get(session)?.recording
  if (action === 'status') return stateOf(session, recording, recording !== undefined)
  if (action === 'stop') return stateOf(session, await stopRecording(session), false)
  return stateOf(session, await startRecording(session, 'request'), true)
}

/** @throws BaxError `conflict` when the session is being recorded, `unsupported`. */
export async function startRecording(session: LiveSession, starter: Starter): Promise<Recording> {
  if (recordings.has(session))
    throw new BaxError('conflict', 'the session is already being recorded', { hint: 'stop the recording first' })
  privacyOf(session.browserContext).assertInactive()
  const recording = new Recording(session)
  recordings.set(session, { recording, starter })
  try {
    await recording.start()
  } catch (error) {
    recordings.delete(session)
    await recording.stop()
    throw error
  }
  notify(session)
  return recording
}

/** @throws BaxError `conflict` when the session is not being recorded. */
export async function stopRecording(session: LiveSession): Promise<Recording> {
  const recording = recordings.get(session)?.recording
  if (!recording)
    throw new BaxError('conflict', 'the session is not being recorded', { hint: 'start a recording first' })
  recordings.delete(session)
  try {
    await recording.stop()
  } finally {
    notify(session)
  }
  return recording
}

function notify(session: LiveSession): void {
  for (const listener of listenersOf(session)) listener()
}

const stateOf = ({ sessionId }: LiveSession, recording: Recording | undefined, isRunning: boolean): RecordingState => ({
  session_id: sessionId,
  recording: isRunning,
  steps: [...(recording?.steps ?? [])],
})

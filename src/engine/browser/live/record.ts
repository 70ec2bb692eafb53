/** Recordings that a person starts and stops in the live view. Every view with control of the session can stop them. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { LiveRecording } from '../../../core/shapes/live-view.ts'
import { scriptText, startSteps } from '../../../core/text/script/write-script.ts'
import type { LiveSession } from '../ports/session.ts'
import { hideSteps } from '../script-recorder/hidden-steps.ts'
import { recordingOf, startRecording, stopRecording } from '../script-recorder/recordings.ts'

/** Describes the recording of a session to a view. */
export function liveRecordingOf(session: LiveSession): LiveRecording {
  const running = recordingOf(session)
  return {
    recording: running !== undefined,
    steps: running?.recording.steps.length ?? 0,
    elsewhere: running?.starter === 'request',
  }
}

/**
 * Starts or stops the recording; returns the script of the recording that it stops.
 * @throws BaxError `conflict` when the recording was started elsewhere, or is not in the required state, `unsupported`.
 */
export async function recordLive(session: LiveSession, on: boolean): Promise<string | undefined> {
  if (on) {
    await startRecording(session, 'live view')
    return undefined
  }
  if (recordingOf(session)?.starter === 'request') {
    throw new BaxError('conflict', 'the recording was not started in the live view', {
      hint: 'stop it where it was started',
    })
  }
  const { startUrl, steps } = await stopRecording(session)
  const { makeManifest } = await import('../../../operations/manifest.ts')
  return scriptText([...hideSteps(startSteps(startUrl), session.browserContext), ...steps], makeManifest())
}

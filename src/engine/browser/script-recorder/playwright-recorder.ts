/**
 * Playwright's recorder, which observes trusted input and generates unique selectors. It has no public API: this module
 * wraps the calls that Playwright's own CLI uses.
 */
import type { BrowserContext, Page } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'

/** Receives an action of the recorder; its content can be forged by the page. */
type OnAction = (page: Page, action: unknown) => void

interface RecordingContext {
  _startRecording?(
    options: { language: string },
    sink: { actionAdded: OnAction; actionUpdated: OnAction; signalAdded(): void },
  ): Promise<void>
  _stopRecording?(): Promise<void>
}

/**
 * Starts the recorder; returns a function that stops it after it has reported pending actions.
 * @throws BaxError `unsupported` when the installed Playwright has no recorder.
 */
export async function startRecorder(
  context: BrowserContext,
  { added, updated }: { readonly added: OnAction; readonly updated: OnAction },
): Promise<() => Promise<void>> {
  const recorder = context as RecordingContext
  if (typeof recorder._startRecording !== 'function' || typeof recorder._stopRecording !== 'function') {
    throw new BaxError('unsupported', 'the installed version of Playwright cannot record', {
      hint: 'install the version of Playwright that package.json names',
    })
  }
  const sink = { actionAdded: added, actionUpdated: updated, signalAdded() {} }
  await recorder._startRecording({ language: 'javascript' }, sink)
  return () => recorder._stopRecording!()
}

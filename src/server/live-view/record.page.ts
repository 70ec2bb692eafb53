/** The button that records the session, and the dialog with the recorded script. */
import type { LiveInputMessage, LiveMessage, LiveRecording } from '../../core/shapes/live-view.ts'

interface Parts {
  readonly button: HTMLButtonElement
  readonly dialog: HTMLDialogElement
  readonly send: (message: LiveInputMessage) => void
  /** Returns the keyboard to the page of the session. */
  readonly focus: () => void
}

export interface RecordButton {
  /** Hides the button, or shows it to viewers who may take control. */
  allow(mayControl: boolean): void
  setControl(hasControl: boolean): void
  /** Updates the number of steps, and shows an error as the end of a request. */
  receive(message: LiveMessage): void
}

export function createRecordButton({ button, dialog, send, focus }: Parts): RecordButton {
  const script = dialog.querySelector('textarea')!
  const [download, close] = dialog.querySelectorAll('button')
  let state: LiveRecording = { recording: false, steps: 0, elsewhere: false }
  let hasControl = false
  // A recording takes a moment to start and to stop.
  let isPending = false

  const update = () => {
    const { recording, steps, elsewhere } = state
    const count = `${steps} ${steps === 1 ? 'step' : 'steps'}`
    button.textContent = recording ? `${elsewhere ? 'Recording' : 'Stop recording'} (${count})` : 'Record'
    button.disabled = !hasControl || isPending || elsewhere
    button.title = elsewhere
      ? 'Somebody else records this session, with bax record or over HTTP. Only they can stop it.'
      : hasControl
        ? ''
        : 'Take control to record'
  }
  button.addEventListener('click', () => {
    isPending = true
    update()
    send({ type: 'record', on: !state.recording })
    focus()
  })
  download!.addEventListener('click', () => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([script.value], { type: 'application/yaml' }))
    link.download = 'script.yaml'
    link.click()
    // The download has started once the click is handled.
    setTimeout(() => URL.revokeObjectURL(link.href))
  })
  close!.addEventListener('click', () => dialog.close())

  return {
    allow(mayControl) {
      button.hidden = !mayControl
      update()
    },
    setControl(given) {
      hasControl = given
      update()
    },
    receive(message) {
      if (message.type === 'event') {
        if (message.event.type !== 'recording.step' || !state.recording) return
        state = { ...state, steps: Math.max(state.steps, Number(message.event.data['index']) + 1) }
      } else if (message.type === 'recording') {
        isPending = false
        state = message
        if (message.script !== undefined) {
          script.value = message.script
          dialog.showModal()
        }
      } else if (message.type === 'error') isPending = false
      else return
      update()
    },
  }
}

/** The bar with what a person is asked to do, and the buttons that end it. */
import type { LiveHandoff, LiveInputMessage } from '../../core/shapes/live-view.ts'

interface Parts {
  readonly bar: HTMLElement
  readonly dialog: HTMLDialogElement
  readonly send: (message: LiveInputMessage) => void
}

export interface HandoffBar {
  /** Shows a request; null hides the bar. */
  show(handoff: LiveHandoff | null): void
}

export function createHandoffBar({ bar, dialog, send }: Parts): HandoffBar {
  const [done, cannot] = bar.querySelectorAll('button')
  const sentence = dialog.querySelector('input')!
  done!.addEventListener('click', () => send({ type: 'done' }))
  cannot!.addEventListener('click', () => dialog.showModal())
  dialog.querySelector('form')!.addEventListener('submit', (event) => {
    if ((event.submitter as HTMLButtonElement).value !== 'send') return
    const message = sentence.value.trim()
    send({ type: 'decline', ...(message && { message }) })
  })
  return {
    show(handoff) {
      bar.hidden = handoff === null
      bar.querySelector('p')!.textContent = handoff?.reason ?? ''
      if (handoff === null && dialog.open) dialog.close()
    },
  }
}

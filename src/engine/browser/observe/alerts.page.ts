/**
 * Runs in Playwright's isolated world of every frame during a step: records alerts, status messages and toasts, even if
 * they disappear before the observation, and the messages of the browser about invalid fields.
 */
import { rejectionOf, shownMessage } from '../input/invalid-fields.page.ts'

export interface Alert {
  role: string
  text: string
}

interface Recording {
  readonly observer: MutationObserver
  readonly onInvalid: (event: Event) => void
  readonly found: Map<string, Alert>
}

const key = Symbol.for('bax.alerts')
const registry = globalThis as { [key]?: Recording | undefined }

const live = '[role="alert"], [role="status"], [role="log"], [aria-live="polite"], [aria-live="assertive"], output'
/** Class names that libraries use for messages without a role. */
const toast = '[class*="toast" i], [class*="snackbar" i], [class*="notif" i], [class*="flash" i], [class*="growl" i]'
const message = `${live}, ${toast}`

export function start({ most, longest }: { most: number; longest: number }): null {
  end(registry[key])
  const found: Recording['found'] = new Map()
  const record = (element: Element) => {
    const text = (element as HTMLElement).innerText?.replace(/\s+/g, ' ').trim().slice(0, longest)
    if (!text || found.size >= most || !element.checkVisibility({ visibilityProperty: true })) return
    const role = element.getAttribute('role') ?? (element.matches(live) ? 'status' : 'toast')
    found.set(`${role} ${text}`, { role, text })
  }
  const observer = new MutationObserver((mutations) => {
    if (found.size >= most) return
    const changed = new Set<Element>()
    for (const { target, addedNodes } of mutations) {
      const element = target instanceof Element ? target : target.parentElement
      const around = element?.closest(message)
      if (around) changed.add(around)
      for (const node of addedNodes) {
        if (!(node instanceof Element)) continue
        if (node.matches(message)) changed.add(node)
        else for (const inner of node.querySelectorAll(message)) changed.add(inner)
      }
    }
    for (const element of changed) if (element.isConnected) record(element)
  })
  for (const root of [document, ...shadowRoots(document)]) observer.observe(root, watched)
  const onInvalid = (event: Event) => {
    const rejection = rejectionOf(event)
    if (!rejection) return
    setTimeout(() => {
      const text = found.size < most ? shownMessage(rejection) : null
      if (text !== null) found.set(`validation ${text}`, { role: 'validation', text })
    })
  }
  addEventListener('invalid', onInvalid, true)
  registry[key] = { observer, onInvalid, found }
  return null
}

function end(recording: Recording | undefined): void {
  if (!recording) return
  recording.observer.disconnect()
  removeEventListener('invalid', recording.onInvalid, true)
}

const watched: MutationObserverInit = {
  subtree: true,
  childList: true,
  characterData: true,
  attributes: true,
  attributeFilter: ['class', 'style', 'hidden', 'open', 'aria-hidden'],
}

const shadowRoots = (root: ParentNode): ShadowRoot[] =>
  [...root.querySelectorAll('*')].flatMap(({ shadowRoot }) =>
    shadowRoot ? [shadowRoot, ...shadowRoots(shadowRoot)] : [],
  )

export function stop(): Alert[] {
  const recording = registry[key]
  end(recording)
  registry[key] = undefined
  return [...(recording?.found.values() ?? [])]
}

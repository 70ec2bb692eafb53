/**
 * Runs in Playwright's own world of every frame while a step does: keeps what alerts, status messages and toasts say,
 * also when they are gone before anybody looks.
 */

export interface Alert {
  role: string
  text: string
}

interface Recording {
  readonly observer: MutationObserver
  readonly found: Map<string, Alert>
}

const place = globalThis as unknown as Record<symbol, Recording | undefined>
const key = Symbol.for('bax.alerts')

const live = '[role="alert"], [role="status"], [role="log"], [aria-live="polite"], [aria-live="assertive"], output'
/** What the libraries call messages that they give no role. */
const toast = '[class*="toast" i], [class*="snackbar" i], [class*="notif" i], [class*="flash" i], [class*="growl" i]'
const message = `${live}, ${toast}`

export function start({ most, longest }: { most: number; longest: number }): null {
  place[key]?.observer.disconnect()
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
  place[key] = { observer, found }
  return null
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
  const recording = place[key]
  recording?.observer.disconnect()
  place[key] = undefined
  return [...(recording?.found.values() ?? [])]
}

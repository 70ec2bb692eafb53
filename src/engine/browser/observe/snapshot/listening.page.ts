/** Runs in Playwright's isolated world: remembers what the engine found out about elements and shadow roots. */

/** An element that the browser has listed. */
export interface Clickable {
  /** ID that the browser has given to the element. */
  readonly id: number
  /** Whether scripts listen to clicks on it; others are in a closed shadow root. */
  readonly listens: boolean
}

interface Memory {
  readonly elements: WeakSet<Element>
  readonly byId: Map<number, WeakRef<Element>>
  /** Elements without an open shadow root that were checked for a closed one. */
  readonly checked: WeakSet<Element>
}

const key = Symbol.for('bax.listening')
const registry = globalThis as { [key]?: Memory }
const memory = (registry[key] ??= { elements: new WeakSet(), byId: new Map(), checked: new WeakSet() })

/** Remembers elements, and opens the closed shadow roots around them, in this world only. */
export function remember(elements: readonly Element[], facts: readonly Clickable[]): void {
  for (const [at, element] of elements.entries()) {
    const { id, listens } = facts[at]!
    if (listens) {
      memory.elements.add(element)
      memory.byId.set(id, new WeakRef(element))
    }
    for (let root = element.getRootNode(); root instanceof ShadowRoot; root = root.host.getRootNode())
      if (!root.host.shadowRoot) Object.defineProperty(root.host, 'shadowRoot', { configurable: true, value: root })
  }
}

/** Forgets elements that no script listens to any more; returns the number of all others. */
export function forget(ids: readonly number[]): number {
  for (const id of ids) {
    const element = memory.byId.get(id)?.deref()
    if (element) memory.elements.delete(element)
    memory.byId.delete(id)
  }
  return memory.byId.size
}

const controls = 'a[href], button, input, select, textarea, summary, option, label, [role=button], [role=link]'
/** Elements whose listeners are for what they contain. */
const containers = new Set('dialog dl fieldset form main nav ol section table tbody thead ul'.split(' '))
const pictures = new Set(['canvas', 'img', 'svg', 'video'])

/** Returns whether scripts listen to clicks on an element itself, and not to those on its controls. */
export function isListening(element: Element): boolean {
  if (!memory.elements.has(element) || containers.has(element.localName)) return false
  if (element.parentElement?.closest(controls)) return false
  if (pictures.has(element.localName)) return true
  const { width, height } = element.getBoundingClientRect()
  return width * height <= (innerWidth * innerHeight) / 2 && element.querySelector(controls) === null
}

/** Elements that can have a shadow root, besides custom elements. */
const hosts = new Set('article aside blockquote div footer h1 h2 h3 h4 h5 h6 header main nav p section span'.split(' '))

/** Returns whether an element without visible content has a size, as that of a closed shadow root; once per element. */
export function mayBeHost(element: Element): boolean {
  if (element.shadowRoot || memory.checked.has(element)) return false
  const { localName } = element
  if (!localName.includes('-') && (element.firstChild !== null || !hosts.has(localName))) return false
  const { width, height } = element.getBoundingClientRect()
  if (width === 0 || height === 0) return false
  memory.checked.add(element)
  return true
}

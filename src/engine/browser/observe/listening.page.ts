/** Runs in Playwright's isolated world: remembers what the engine found out about elements and shadow roots. */

interface Memory {
  readonly elements: WeakSet<Element>
  readonly byId: Map<number, WeakRef<Element>>
  /** Elements without an open shadow root that were checked for a closed one. */
  readonly checked: WeakSet<Element>
}

const key = Symbol.for('bax.listening')
const registry = globalThis as { [key]?: Memory }
const memory = (registry[key] ??= { elements: new WeakSet(), byId: new Map(), checked: new WeakSet() })

/** Elements that are controls anyway, or never one. */
const others = new Set('A BODY BUTTON HTML IFRAME INPUT OPTION SELECT SUMMARY TEXTAREA'.split(' '))

/** Remembers elements that scripts listen to, by the IDs that the browser has given to them. */
export function remember(nodes: readonly Node[], ids: readonly number[]): void {
  for (const [at, node] of nodes.entries()) {
    if (!(node instanceof Element) || others.has(node.nodeName)) continue
    memory.elements.add(node)
    memory.byId.set(ids[at]!, new WeakRef(node))
    openAround(node)
  }
}

/** Opens the closed shadow roots around an element, in this world only. */
function openAround(element: Node): void {
  for (let root = element.getRootNode(); root instanceof ShadowRoot; root = root.host.getRootNode()) openRoots([root])
}

/** Opens closed shadow roots, in this world only. */
export function openRoots(roots: readonly ShadowRoot[]): void {
  for (const root of roots)
    if (!root.host.shadowRoot) Object.defineProperty(root.host, 'shadowRoot', { configurable: true, value: root })
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
  return width * height <= (innerWidth * innerHeight) / 2 && !hasControls(element)
}

export const hasControls = (element: Element): boolean => element.querySelector(controls) !== null

/** Elements that can have a shadow root, besides custom elements. */
const hosts = new Set('article aside blockquote div footer h1 h2 h3 h4 h5 h6 header main nav p section span'.split(' '))

/** Elements that may have a closed shadow root, and have not been looked at. */
const hosting: Element[] = []

/** Returns the elements that may have a closed shadow root, each once. */
export const possibleHosts = (): readonly Element[] => hosting.splice(0)

/** Returns whether an element without visible content has a size, as that of a closed shadow root; once per element. */
export function mayBeHost(element: Element): boolean {
  if (element.shadowRoot || memory.checked.has(element)) return false
  const { localName } = element
  if (!localName.includes('-') && (element.firstChild !== null || !hosts.has(localName))) return false
  const { width, height } = element.getBoundingClientRect()
  if (width === 0 || height === 0) return false
  memory.checked.add(element)
  hosting.push(element)
  return true
}

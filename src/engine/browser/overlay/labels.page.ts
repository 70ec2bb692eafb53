/**
 * Runs in a page: draws labelled boxes at fixed places of the document, for one screenshot. They are in a closed shadow
 * root in the top layer, which affects neither events nor layout.
 */
export interface Label {
  readonly text: string
  /** CSS pixels of the viewport. */
  readonly box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number }
}

const key = Symbol.for('bax.labels')
const registry = globalThis as { [key]?: HTMLElement | undefined }
const colours = ['#e6194b', '#0072b2', '#2e7d32', '#8e24aa', '#d35400', '#00838f']

export function showLabels(labels: readonly Label[]): void {
  hideLabels()
  const host = document.createElement('bax-labels')
  host.setAttribute('aria-hidden', 'true')
  host.setAttribute('popover', 'manual')
  // Relative to the document, since a screenshot of the whole page reaches beyond the viewport.
  style(host, {
    all: 'initial',
    position: 'absolute',
    left: '0',
    top: '0',
    width: '0',
    height: '0',
    margin: '0',
    padding: '0',
    border: '0',
    overflow: 'visible',
    'pointer-events': 'none',
    'z-index': '2147483647',
    display: 'block',
  })
  const root = host.attachShadow({ mode: 'closed' })
  for (const [at, label] of labels.entries()) root.append(labelled(label, colours[at % colours.length]!))
  Object.defineProperty(registry, key, { value: host, configurable: true, enumerable: false })
  document.documentElement.append(host)
  host.showPopover()
}

export function hideLabels(): void {
  registry[key]?.remove()
  Object.defineProperty(registry, key, { value: undefined, configurable: true, enumerable: false })
}

function labelled({ text, box }: Label, colour: string): HTMLElement {
  const frame = document.createElement('div')
  style(frame, {
    position: 'absolute',
    'box-sizing': 'border-box',
    border: `2px solid ${colour}`,
    left: `${box.x + scrollX}px`,
    top: `${box.y + scrollY}px`,
    width: `${box.width}px`,
    height: `${box.height}px`,
  })
  const label = document.createElement('div')
  label.textContent = text
  style(label, {
    position: 'absolute',
    left: '-2px',
    top: '-2px',
    padding: '0 3px',
    background: colour,
    color: '#fff',
    font: 'bold 11px/14px sans-serif',
    'white-space': 'nowrap',
  })
  frame.append(label)
  return frame
}

function style(element: HTMLElement, rules: Record<string, string>): void {
  for (const [name, value] of Object.entries(rules)) element.style.setProperty(name, value, 'important')
}

/** Runs in an isolated world of every document: remembers when input last reached it. */

/** Events that prove the arrival of each kind of input. Values are also set by script, which dispatches the events itself. */
const proofs = {
  press: ['mousedown'],
  move: ['mousemove'],
  text: ['keydown', 'beforeinput', 'input', 'change'],
} as const

export type InputKind = keyof typeof proofs

const setByScript: ReadonlySet<string> = new Set(['input', 'change'])

/** Characters whose times are kept. */
const mostCharacters = 10_000

interface Watch {
  readonly document: Document
  /** Time of the latest event of each kind, on the clock of `performance.now()`. */
  readonly latest: Map<InputKind, number>
  /** Times at which characters have reached a field, oldest first. */
  readonly characters: number[]
}

const holder = globalThis as { baxInputWatch?: Watch }

/**
 * Starts listening, once per document. The listeners are on the document and not on the window: Playwright stops an
 * event there that would hit the wrong element, and such an event has not been delivered.
 */
export function watchInput(): void {
  if (holder.baxInputWatch?.document === document) return
  const watch: Watch = { document, latest: new Map(), characters: [] }
  holder.baxInputWatch = watch
  const options = { capture: true, passive: true }
  for (const kind of Object.keys(proofs) as InputKind[]) {
    const listener = (event: Event) => {
      if (event.isTrusted || setByScript.has(event.type)) watch.latest.set(kind, performance.now())
    }
    for (const type of proofs[kind]) document.addEventListener(type, listener, options)
  }
  let isKeyDown = false
  const onText = (event: Event) => {
    if (!event.isTrusted) return
    // The text of a key is counted with the key: the page may prevent the rest.
    const isCharacter = event.type === 'keydown' || (event.type === 'input' && !isKeyDown)
    isKeyDown = event.type === 'keydown' || (isKeyDown && event.type !== 'keyup')
    if (isCharacter && isInField(event)) watch.characters.push(performance.now())
    if (watch.characters.length > mostCharacters) watch.characters.shift()
  }
  for (const type of ['keydown', 'keyup', 'input']) document.addEventListener(type, onText, options)
}

/** Keys that nothing has the focus for go to the body. */
function isInField(event: Event): boolean {
  const target = event.composedPath()[0]
  return target !== document.body && target !== document.documentElement
}

/** Milliseconds since the latest input of a kind; null when there was none. */
export function lastInputAge(kind: InputKind): number | null {
  const at = holder.baxInputWatch?.latest.get(kind)
  return at === undefined ? null : performance.now() - at
}

/** Milliseconds since each character that has reached a field; null when they have not been watched. */
export function characterAges(): number[] | null {
  const watch = holder.baxInputWatch
  return watch ? watch.characters.map((at) => performance.now() - at) : null
}

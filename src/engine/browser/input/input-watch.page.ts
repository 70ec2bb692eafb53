/** Runs in an isolated world of every document: records when input last reached it. */

import { downloadBinding } from '../cdp/transfers.ts'
import { type Rejection, rejectionOf, shownMessage } from './invalid-fields.page.ts'
import { type PressWatch, watchPresses } from './lost-press.page.ts'

/** Events that prove the arrival of each kind of input, also if Playwright dispatches them after setting a value. */
const proofs = {
  press: ['mousedown'],
  move: ['mousemove'],
  text: ['keydown', 'beforeinput', 'input', 'change'],
} as const

export type InputKind = keyof typeof proofs

const setByScript: ReadonlySet<string> = new Set(['input', 'change'])

/** Maximum number of characters whose times are stored. */
const maxCharacters = 10_000

interface Watch {
  readonly document: Document
  /** Time of the latest event of each kind, on the clock of `performance.now()`. */
  readonly latest: Map<InputKind, number>
  /** Times at which characters have reached a field, oldest first. */
  readonly characters: number[]
  readonly presses: PressWatch
  /** Latest events of invalid fields, oldest first. */
  rejections: (Rejection & { readonly at: number })[]
}

/** Effects of input on the page, with their ages in milliseconds. */
export interface Reaction {
  /** Age of the latest press if its element lost it. */
  readonly lostAge: number | null
  /** Messages about fields that keep a form from being submitted. */
  readonly rejected: readonly { readonly age: number; readonly text: string }[]
}

/** Maximum number of invalid fields that are reported. */
const maxRejections = 20

const registry = globalThis as { baxInputWatch?: Watch; [downloadBinding]?: (payload: string) => void }

/**
 * Starts listening, once per document. The listeners are on the document, not on the window, where Playwright stops
 * events that would hit the wrong element: such events have not been delivered.
 */
export function watchInput(): void {
  if (registry.baxInputWatch?.document === document) return
  const watch: Watch = { document, latest: new Map(), characters: [], presses: watchPresses(), rejections: [] }
  registry.baxInputWatch = watch
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
    // Count the text of a key with `keydown`, since the page may prevent the later events.
    const isCharacter = event.type === 'keydown' || (event.type === 'input' && !isKeyDown)
    isKeyDown = event.type === 'keydown' || (isKeyDown && event.type !== 'keyup')
    if (isCharacter && isInField(event)) watch.characters.push(performance.now())
    if (watch.characters.length > maxCharacters) watch.characters.shift()
  }
  for (const type of ['keydown', 'keyup', 'input']) document.addEventListener(type, onText, options)
  const onInvalid = (event: Event) => {
    const rejection = rejectionOf(event)
    if (rejection) watch.rejections.push({ ...rejection, at: performance.now() })
    // Scripts check fields, too, whose events no command takes.
    if (watch.rejections.length > maxRejections) watch.rejections.shift()
  }
  document.addEventListener('invalid', onInvalid, options)
  // Scripts click links too, to save what they have made.
  document.addEventListener(
    'click',
    (event) => event.composedPath().some(isDownload) && registry[downloadBinding]?.(''),
    options,
  )
}

const isDownload = (target: EventTarget): boolean =>
  target instanceof HTMLAnchorElement && target.hasAttribute('download') && target.href !== ''

/** Returns whether an event targets a field: without focus, keys go to the body, which can itself be an editor. */
function isInField(event: Event): boolean {
  const target = event.composedPath()[0]
  const isBody = target === document.body || target === document.documentElement
  return !isBody || document.body.isContentEditable
}

/** Returns the milliseconds since the latest input of a kind; null when there was none. */
export function lastInputAge(kind: InputKind): number | null {
  const at = registry.baxInputWatch?.latest.get(kind)
  return at === undefined ? null : performance.now() - at
}

/** Returns the reaction to the latest input, and forgets it. */
export function takeReaction(): Reaction | null {
  const watch = registry.baxInputWatch
  if (!watch) return null
  const { presses, rejections } = watch
  const now = performance.now()
  const lostAge = presses.lostAt === undefined ? null : now - presses.lostAt
  const rejected = rejections.flatMap((rejection) => {
    const text = shownMessage(rejection)
    return text === null ? [] : [{ age: now - rejection.at, text }]
  })
  presses.lostAt = undefined
  watch.rejections = []
  return { lostAge, rejected }
}

/** Returns the milliseconds since each character that has reached a field; null when they were not watched. */
export function characterAges(): number[] | null {
  const watch = registry.baxInputWatch
  return watch ? watch.characters.map((at) => performance.now() - at) : null
}

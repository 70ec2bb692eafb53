/**
 * Runs in every document while a session is recorded: adds the facts of its element to each action of Playwright's
 * recorder, at the time of the input, when the element still exists. The text of password fields never leaves the page.
 */
import { isElement, isHtml, isInput } from '../elements/node-kinds.page.ts'
import type { Fingerprint } from '../../../core/shapes/recording.ts'
import { fingerprintOf } from '../elements/fingerprint.page.ts'
import { isSecretField } from '../elements/secret-field.page.ts'
import { afterEvent, watchInput } from './after-event.page.ts'
import { openerOf, opensChooser, watchChoosers } from './choosers.page.ts'
import { type DragFacts, DragWatch } from './drags/drags.page.ts'
import { FileDropWatch } from './drags/file-drops.page.ts'
import { keepListening } from './keep-listening.page.ts'
import { watchKeys } from './keys.page.ts'
import { isChoice, type Press, PressWatch } from './presses.page.ts'
import {
  closest,
  editableSelectorOf,
  exactNames,
  goesToFocus,
  selectorOf,
  stableSelector,
  withoutValue,
} from './selector-of.page.ts'
import { toggled } from './toggles.page.ts'
import { watchTyping } from './typing.page.ts'

/** Facts that are added to an action. */
export interface ElementFacts {
  /** Name of the action, when the recorder is given another one. */
  readonly name?: string
  /** Time of the input, in milliseconds since the epoch. */
  readonly at: number
  readonly fingerprint: Fingerprint
  readonly secret: boolean
  /** Names of the files of a file input. */
  readonly files: readonly string[] | null
  /** Full names of the elements that the role and the name in the selector match, each once. */
  readonly names: readonly string[]
  /** Set for files whose chooser the page opened after a click, which is a part of the upload. */
  readonly followsClick: boolean
}

interface Action {
  readonly name: string
  readonly selector?: string
  readonly text?: string
  readonly ariaSnapshot?: string
  readonly [fact: string]: unknown
}

type Report = (action: Action, precondition?: unknown) => Promise<void>

const page = globalThis as {
  __pw_recorderRecordAction?: Report & { isWrapped?: true }
  baxRecorderWatch?: Document
  /** Waits for the reports that are on their way. */
  baxRecorderReports?: () => Promise<unknown>
}
const reports = new Set<Promise<unknown>>()
const inputs = ['click', 'auxclick', 'contextmenu', 'input', 'keydown'] as const
const interactive = 'button, select, input, [role=button], [role=checkbox], [role=radio], a, [role=link]'

/** Starts watching, once per document. */
export function watchRecorder(): void {
  if (page.baxRecorderWatch === document) return
  page.baxRecorderWatch = document
  page.baxRecorderReports = () => Promise.allSettled(reports)
  hideToolbar()
  watchChoosers(
    () => current,
    (input) => {
      const facts = { at: Date.now(), fingerprint: fingerprintOf(current), files: fileNames(input), followsClick: true }
      send({ name: 'fill', selector: selectorOf(current), bax: { ...noFacts, ...facts } })
    },
  )
  keepListening(listen)
}

const send = ({ name, bax, ...action }: Action & { bax: object }) =>
  void page.__pw_recorderRecordAction?.({ name: passing, ...action, bax: { ...bax, name } })

const sendLost = (what: string) =>
  send({ name: 'lost', selector: 'html', what, bax: { ...noFacts, at: Date.now(), fingerprint: { tag: 'html' } } })

function listen(): void {
  watchInput()
  const presses = new PressWatch((press) => void page.__pw_recorderRecordAction?.(clickOf(press)))
  const fileDrops = new FileDropWatch(({ at, fingerprint, files, selector }) => {
    send({ name: 'dropFiles', selector, bax: { ...noFacts, at, fingerprint, files } })
  })
  const onDrag = ({ at, fingerprint, selector, ...drag }: DragFacts) =>
    send({ name: 'drag', selector, drag: { ...drag, own: selector }, bax: { ...noFacts, at, fingerprint } })
  const drags = new DragWatch(onDrag, sendLost, fileDrops)
  watched = { drags, fileDrops, presses }
  // The recorder listens on the document, and so after this.
  const onInput = (event: Event) => {
    const [target] = event.composedPath()
    isPointer = event instanceof MouseEvent
    if (event instanceof KeyboardEvent) isKeyed = event.key === 'Enter' || event.key === ' '
    if (isElement(target)) wrap(target)
  }
  for (const type of inputs) addEventListener(type, onInput, { capture: true, passive: true })
  watchKeys(({ element, at, ...press }) => {
    const toFocus = press.toFocus || presses.hasMadeEditable(element)
    send({ name: 'press', ...press, toFocus, bax: { ...noFacts, at, fingerprint: fingerprintOf(element) } })
  })
  watchTyping(({ element, at, ...typed }) => {
    const toFocus = presses.hasMadeEditable(element)
    send({ name: 'type', ...typed, toFocus, bax: { ...noFacts, at, fingerprint: fingerprintOf(element) } })
  })
}

/**
 * Action that Playwright passes on at once. It accepts only names that it knows, withholds clicks until no second one
 * can follow, and so loses the last one of a tab.
 */
const passing = 'hover'

const noFacts = { secret: false, files: null, names: [], followsClick: false }

/** Hides the toolbar that the recorder draws over the page: it would cover elements, and can end the recording. */
function hideToolbar(): void {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('x-pw-glass { display: none !important }')
  document.adoptedStyleSheets.push(sheet)
}

let current: Element = document.documentElement
/** Whether the last key was one that clicks the focused element, or the button that submits its form. */
let isKeyed = false
/** Whether the current event is one of a pointer, such as a click. */
let isPointer = false

/** Fields that are or were for a password. */
const secrets = new WeakSet<Element>()

interface Watched {
  readonly drags: DragWatch
  readonly fileDrops: FileDropWatch
  readonly presses: PressWatch
}
let watched: Watched

function wrap(target: Element): void {
  current = target
  // A field that shows its password is no longer one of type=password.
  if (isSecretField(target)) secrets.add(target)
  const report = page.__pw_recorderRecordAction
  if (!report || report.isWrapped) return
  const send: Report = async (given, precondition) => {
    const action = given['bax'] === undefined ? await completed(given) : given
    return action && report(action, precondition)
  }
  const wrapped: Report = async (...action) => {
    const sending = send(...action)
    reports.add(sending)
    return sending.finally(() => reports.delete(sending))
  }
  page.__pw_recorderRecordAction = Object.assign(wrapped, { isWrapped: true as const })
}

/** Adds the facts of its element to an action of the recorder; returns undefined for one that needs no step. */
async function completed({ ariaSnapshot, ...action }: Action): Promise<Action | undefined> {
  const { drags, fileDrops, presses } = watched
  const isClick = action.name === 'click'
  const isPressed = isPointer && (isClick ? action['clickCount'] !== 0 : /^(?:check|uncheck)$/.test(action.name))
  const press = isPressed ? presses.last : undefined
  if (press && (isClick || isChoice(press.element))) {
    // The second click of a label is that on its field.
    const isRepeated = current !== press.pressed && press.pressed.closest('label')?.control === current
    return drags.endsDrag || opensChooser(current) || isRepeated ? undefined : meant(press, action)
  }
  if (isClick && (isKeyed || opensChooser(current))) return undefined
  // Text typed into an editor is reported in pieces, because replacing the whole text would remove its formats.
  if (action.name === 'fill' && (isEditor(current) || fileDrops.has(current))) return undefined
  if (press) set.add(press)
  const secret = secrets.has(current)
  const better = betterSelector(current, action)
  const selector = better && stableSelector(current, better)
  const bax = { ...factsOf(current, action, secret, ariaSnapshot), name: action.name }
  const isKey = action.name === 'press'
  const toFocus = isKey && (goesToFocus(current, action.selector ?? '') || presses.hasMadeEditable(current))
  return { ...action, name: isClick ? passing : action.name, selector, toFocus, ...(secret && { text: '' }), bax }
}

/** Presses whose checkbox or radio button the recorder has reported. */
const set = new WeakSet<Press>()

/** Returns what a press was meant for: to set a control, if its state has changed, else a click. */
async function meant(press: Press, action: Action): Promise<Action | undefined> {
  const click = clickOf(press, action)
  const isPlain = action['button'] === 'left' && action['modifiers'] === 0
  if (!press.toggle || !isPlain || isChoice(press.element)) return click
  await new Promise<void>(afterEvent)
  if (set.has(press)) return undefined
  const name = toggled(press.toggle)
  if (!name) return click
  const { control } = press.toggle
  const selector = selectorOf(control)
  const facts = { name, fingerprint: fingerprintOf(control), names: exactNames(control, selector) }
  return { name: passing, selector, bax: { ...click.bax, ...facts } }
}

/** Returns the click that a press was meant for; `action` has its button and count. */
const clickOf = (press: Press, action: Partial<Action> = {}): Action & { bax: object } => ({
  ...action,
  name: passing,
  position: press.position,
  selector: press.selector,
  bax: { ...noFacts, name: 'click', at: Date.now(), fingerprint: press.fingerprint, names: press.names },
})

/** Returns the recorder's selector, or one for another element, or without the text that changes. */
function betterSelector(target: Element, { name, selector = '' }: Action): string | undefined {
  const opener = isInput(target) ? openerOf(target) : undefined
  // The description can be a tooltip, which exists only while the pointer is on the element.
  if (selector.includes('[description=')) return selectorOf(target)
  if (opener && name === 'fill') return selectorOf(opener)
  if (isHtml(target) && target.localName === 'textarea')
    return /internal:(?:has-)?text/.test(selector) ? editableSelectorOf(target) : selector
  if (isInput(target) && name === 'fill') return withoutValue(target, selector)
  return isEditor(target) && name === 'press' ? editableSelectorOf(target) : selector
}

const isEditor = (element: Element): element is HTMLElement => isHtml(element) && element.isContentEditable

/** Names of the files, or of the folder that they are from. */
const fileNames = ({ files }: HTMLInputElement) => [
  ...new Set([...(files ?? [])].map((file) => file.webkitRelativePath.split('/', 1)[0] || file.name)),
]

function factsOf(target: Element, { selector }: Action, secret: boolean, snapshot = ''): ElementFacts {
  const isField = target.matches('input, textarea, select') || isEditor(target)
  // The recorder's selectors name the control that a click goes to.
  const element = isField ? target : (closest(target, interactive) ?? target)
  const files = isInput(element) && element.type === 'file' ? element : undefined
  const opener = files && openerOf(files)
  return {
    at: Date.now(),
    fingerprint: fingerprintOf(opener ?? element),
    secret,
    files: files ? fileNames(files) : null,
    names: selector === undefined ? [] : namesIn(snapshot, selector),
    followsClick: opener !== undefined,
  }
}

const named = /internal:role=([\w-]+)\[name=("(?:\\.|[^"\\])*")i\](?!.*internal:role)/

/** Returns the names in an accessibility snapshot that the last role and name of a selector match. */
function namesIn(snapshot: string, selector: string): string[] {
  const [, role, quoted] = named.exec(selector) ?? []
  if (role === undefined) return []
  const part = plain(JSON.parse(quoted!) as string)
  const names = new Set<string>()
  for (const line of snapshot.split('\n')) {
    // The key is in single quotes where YAML requires it.
    const [, mark, lineRole, name] = /^\s*- ('?)([\w-]+) ("(?:\\.|[^"\\])*")/.exec(line) ?? []
    if (lineRole !== role) continue
    const full = JSON.parse(mark ? name!.replaceAll("''", "'") : name!) as string
    if (plain(full).includes(part)) names.add(full)
  }
  return [...names].slice(0, 5)
}

const plain = (text: string) => text.replaceAll(/\s+/g, ' ').trim().toLowerCase()

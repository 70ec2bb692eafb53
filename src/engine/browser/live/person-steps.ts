/** Keeps what a person does in the live view, outside of handoffs, as commands in the journal of the session. */
import type { Page } from 'playwright'
import type { LiveInput } from '../../../core/shapes/live-view.ts'
import { contentNow, type PersonTarget, targetAt, targetInFocus } from '../journal/describe-for-person.ts'
import { hasOpenDialog } from '../page/open-dialogs.ts'
import type { LiveSession } from '../ports/session.ts'

type Mouse = Extract<LiveInput, { type: 'mouse' }>
type Key = Extract<LiveInput, { type: 'key' }>

interface Step {
  readonly command: string
  readonly data: Readonly<Record<string, unknown>>
  readonly targets: readonly PersonTarget[]
}

/** A step whose effects are not over. */
interface Begun extends Step {
  /** Adds it, or the step that it has turned out to be. */
  readonly end: (after: Page | undefined, done?: Step) => void
  /** The checkbox, radio button or switch that it may set, as it was before. */
  readonly toggle?: PersonTarget | undefined
}

/** Distance in CSS pixels from which a press that moves is a drag. */
const dragDistance = 5

export class PersonSteps {
  readonly #session: LiveSession
  /** The last step, until the next input shows what it has led to. */
  #last: Begun | undefined
  /** The field that is being edited, and whether a text was typed or deleted there. */
  #edited: PersonTarget | undefined
  #hasTyped = false
  /** A select element whose list is open: it takes the option when the next input closes the list. */
  #open: PersonTarget | undefined
  #pressed: { readonly at: Mouse; readonly target: PersonTarget | undefined } | undefined
  #isIncomplete = false

  constructor(session: LiveSession) {
    this.#session = session
  }

  /** Whether something was done that no step repeats. */
  get isIncomplete(): boolean {
    return this.#isIncomplete
  }

  /** Describes what an input is about to change, and keeps what the inputs before have done. Never rejects. */
  async before(input: LiveInput, page: Page): Promise<void> {
    if (input.type === 'dialog') return this.#answer(input)
    // The page does not answer meanwhile.
    if (hasOpenDialog(page)) return
    if (input.type === 'mouse') return this.#mouse(input, page)
    if (input.type === 'key') return input.action === 'down' ? this.#key(input, page) : undefined
    if (input.type === 'text') return this.#text(input, page)
    if (input.type === 'history')
      return this.#begin({ command: historyCommands[input.go], data: {}, targets: [] }, page)
    if (input.type === 'navigate') return this.#navigate(input.url, page)
  }

  /** Keeps what the last inputs have done. */
  async end(): Promise<void> {
    await this.#finish()
    await this.#finish()
  }

  /** Forgets the last step, which failed. */
  forgetLast(): void {
    this.#last = undefined
  }

  async #mouse(input: Mouse, page: Page): Promise<void> {
    if (input.action === 'down') return this.#press(input, page)
    if (input.action === 'up') return this.#release(input, page)
  }

  async #press(input: Mouse, page: Page): Promise<void> {
    this.#session.journal.typed.add(input)
    const last = this.#last
    const isAgain = input.clicks > 1 && last !== undefined && last.targets[0] === this.#pressed?.target
    // A double click is one step.
    if (isAgain) this.#last = undefined
    else await this.#finish()
    const target = isAgain ? last.targets[0] : await targetAt(page, input)
    this.#pressed = { at: input, target }
    if (!target) this.#isIncomplete = true
    else if (target.editing === 'options' || target.editing === 'value') this.#edited = target
    else await this.#begin(clickOf(input, target), page, target)
  }

  /** Ends a drag. */
  async #release(input: Mouse, page: Page): Promise<void> {
    const { at, target: from } = this.#pressed ?? {}
    if (!at || !from || Math.hypot(input.x - at.x, input.y - at.y) <= dragDistance) return
    // Selects text, or moves a slider, whose value is kept.
    if (from.editing !== null) return
    this.#last = undefined
    const to = await targetAt(page, input)
    if (!to || to.target.playwright === from.target.playwright) this.#isIncomplete = true
    else {
      const data = { selector: from.target.selector, target_selector: to.target.selector }
      await this.#begin({ command: 'drag_to', data, targets: [from, to] }, page)
    }
  }

  async #text(input: LiveInput, page: Page): Promise<void> {
    const field = await targetInFocus(page)
    this.#redact(input, field)
    if (!field?.editing) this.#isIncomplete = true
    else await this.#edit(field, true)
  }

  async #key(input: Key, page: Page): Promise<void> {
    const { key, modifiers } = input
    if (heldKeys.has(key)) return
    const field = await targetInFocus(page)
    this.#redact(input, field)
    if (!field) this.#isIncomplete = true
    else if (edits(field, key, modifiers)) await this.#edit(field, types(key, modifiers))
    else
      await this.#begin({ command: 'press_key', data: { key: combination(key, modifiers) }, targets: [] }, page, field)
  }

  /** Keeps texts out of the URLs and expectations of later steps, unless a step has them. */
  #redact(input: LiveInput, field: PersonTarget | undefined): void {
    if (!field || field.target.secret || field.editing === null) this.#session.journal.typed.add(input)
  }

  async #edit(field: PersonTarget, isTyping: boolean): Promise<void> {
    const isSame = (other: PersonTarget | undefined) => other?.target.playwright === field.target.playwright
    if (!isSame(this.#edited)) {
      // The step that sets a field gives it the focus, too.
      if (isSame(this.#last?.targets[0]) && this.#last?.command === 'click') this.#last = undefined
      await this.#finish()
      this.#edited = field
    }
    this.#hasTyped ||= isTyping
  }

  #answer({ accept, text }: Extract<LiveInput, { type: 'dialog' }>): void {
    // Scripts answer a dialog before the step that opens it.
    const { activePage } = this.#session
    const data = { accept, ...(accept && text !== undefined && { text }) }
    this.#start({ command: 'answer_dialog', data, targets: [] }, activePage).end(activePage)
  }

  async #navigate(given: string, page: Page): Promise<void> {
    let url: string
    try {
      url = this.#session.checkUrl(given)
    } catch {
      // The person gets the error when the page is opened.
      return
    }
    await this.#begin({ command: 'navigate_to', data: { url }, targets: [] }, page)
  }

  /** `on` is the element that the step may set. */
  async #begin(step: Step, page: Page, on?: PersonTarget): Promise<void> {
    await this.#finish()
    this.#last = { ...this.#start(step, page), toggle: on?.isToggle ? on : undefined }
  }

  #start(step: Step, page: Page | undefined): Begun {
    const end = this.#session.journal.beginByPerson(page)
    return {
      ...step,
      end: (after, done = step) =>
        end(
          after,
          done,
          done.targets.map(({ target }) => target),
        ),
    }
  }

  /** Completes the last step and the field that was edited. */
  async #finish(): Promise<void> {
    const { activePage } = this.#session
    const [open, last, edited, hasTyped] = [this.#open, this.#last, this.#edited, this.#hasTyped]
    this.#open = this.#last = this.#edited = undefined
    this.#hasTyped = false
    if (open) await this.#keepValue(open)
    last?.end(activePage, await setBy(last))
    if (!edited || (await this.#keepValue(edited))) return
    if (edited.editing === 'options') this.#open = edited
    // The page may have taken the text out of the field.
    else if (hasTyped) this.#isIncomplete = true
  }

  /** Adds the step that sets a field, if it was changed. */
  async #keepValue(field: PersonTarget): Promise<boolean> {
    const value = await contentNow(field)
    if (value === undefined) this.#isIncomplete = true
    if (value === undefined || String(value) === String(field.value)) return false
    const { selector } = field.target
    const [command, data] = typeof value === 'string' ? ['fill', { text: value }] : ['select_option', { values: value }]
    this.#start({ command, data: { selector, ...data }, targets: [field] }, field.page).end(this.#session.activePage)
    return true
  }
}

/** Returns the step that sets a control to the state that a click or key has given to it; undefined if it has not. */
async function setBy({ toggle }: Begun): Promise<Step | undefined> {
  const value = toggle && (await contentNow(toggle))
  if (!toggle || value === undefined || value === toggle.value) return undefined
  const command = value === 'true' ? 'check' : 'uncheck'
  return { command, data: { selector: toggle.target.selector }, targets: [toggle] }
}

const historyCommands = { back: 'go_back', forward: 'go_forward', reload: 'refresh' } as const

/** Keys that do nothing alone. */
const heldKeys: ReadonlySet<string> = new Set([
  'Alt',
  'AltGraph',
  'CapsLock',
  'Control',
  'Dead',
  'Meta',
  'Process',
  'Shift',
  'Unidentified',
])

const [alt, control, meta, shift] = [1, 2, 4, 8]

/** Returns whether a key changes the field, so that its value afterwards is what counts. */
function edits({ editing }: PersonTarget, key: string, modifiers: number): boolean {
  // It closes the list of a select element.
  if (editing === 'options' && key === 'Enter') return true
  if (editing === null || /^(?:Enter|Escape|Tab|Page(?:Up|Down)|F\d{1,2})$/.test(key)) return false
  // They choose a suggestion.
  if (editing === 'line' && /^Arrow(?:Up|Down)$/.test(key)) return false
  return (modifiers & (control | meta)) === 0 || /^(?:[acvxyz]|Arrow\w+|Backspace|Delete|Home|End)$/i.test(key)
}

/** Returns whether a key that edits a field types or deletes a text, rather than moving in it. */
const types = (key: string, modifiers: number): boolean =>
  /^(?:Backspace|Delete)$/.test(key) || ([...key].length === 1 && (modifiers & (control | meta)) === 0)

function combination(key: string, modifiers: number): string {
  const isCharacter = [...key].length === 1
  const held = [
    modifiers & alt && 'Alt',
    modifiers & control && 'Control',
    modifiers & meta && 'Meta',
    // A character is the one that the key types together with it.
    modifiers & shift && !isCharacter && 'Shift',
  ]
  return [...held.filter(Boolean), key === ' ' ? 'Space' : key].join('+')
}

function clickOf({ button, clicks, modifiers }: Mouse, target: PersonTarget): Step {
  const { selector } = target.target
  const isPlain = button === 'left' && modifiers === 0
  const [targets, data] = [[target], { selector }]
  if (isPlain && clicks <= 2) return { command: clicks === 2 ? 'double_click' : 'click', data, targets }
  const how = {
    ...(button !== 'left' && { button }),
    ...(clicks > 1 && { click_count: clicks }),
    ...(modifiers > 0 && { modifiers }),
  }
  return { command: 'click_advanced', data: { ...data, ...how }, targets }
}

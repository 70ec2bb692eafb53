/** Who hears a key: layers one above the other, from what is open on top down to the whole program. */
import type { Key } from 'ink'

/** One thing that a key does. */
export interface Binding {
  /** Names as `keyName` gives them; the first is shown in the help. */
  readonly keys: readonly string[]
  readonly does: string
  readonly run: (key: string) => void
}

/** What hears keys together. */
export interface Layer {
  /** Heads its part of the help. */
  readonly title: string
  readonly bindings: readonly Binding[]
  /** Text that is typed, for a layer in which one writes. */
  readonly onText?: (text: string) => void
  /** Nothing below hears anything, but for what the program itself must. */
  readonly isModal?: boolean
}

/** Higher ones hear first. */
export const levels = { program: 0, screen: 1, panel: 2, writing: 3, dialog: 4 } as const

interface Standing {
  readonly level: number
  readonly layer: () => Layer
}

export class Keyboard {
  #layers: Standing[] = []
  #changes = 0
  /** The first of them is being heard. */
  readonly #waiting: Press[] = []
  readonly #listeners = new Set<() => void>()
  /** The program's own, which nothing can take away. */
  readonly always = new Map<string, () => void>()

  /** Adds a layer; the function takes it away. */
  add(level: number, layer: () => Layer): () => void {
    const standing = { level, layer }
    // Of those on one level, the one that was opened last hears first.
    this.#layers = [standing, ...this.#layers].toSorted((a, b) => b.level - a.level)
    this.#changed()
    return () => {
      this.#layers = this.#layers.filter((other) => other !== standing)
      this.#changed()
    }
  }

  /** Grows with every layer that comes or goes. */
  readonly changes = (): number => this.#changes

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The layers that hear keys now, the topmost first. */
  get hearing(): Layer[] {
    const all = this.#layers.map(({ layer }) => layer())
    const modal = all.findIndex(({ isModal }) => isModal)
    return modal === -1 ? all : all.slice(0, modal + 1)
  }

  /** Takes keys that came together; what one of them opens hears the next one. */
  feed(presses: readonly Press[]): void {
    this.#waiting.push(...presses)
    if (this.#waiting.length === presses.length) this.#next()
  }

  #next(): void {
    const [first] = this.#waiting
    if (!first) return
    this.#press(first)
    // What the key has changed is drawn in the turn after this one: only then is it known what the next key means.
    setImmediate(() =>
      setImmediate(() => {
        this.#waiting.shift()
        this.#next()
      }),
    )
  }

  #press({ name, text }: Press): void {
    const always = this.always.get(name)
    if (always) return always()
    for (const { bindings, onText } of this.hearing) {
      const bound = bindings.find(({ keys }) => keys.includes(name))
      if (bound) return bound.run(name)
      if (onText && text !== '') return onText(text)
    }
    // Where nobody writes, each sign of a text is a key.
    if (text.length > 1) this.#waiting.splice(1, 0, ...[...text].map((sign) => ({ name: sign, text: sign })))
  }

  #changed(): void {
    this.#changes += 1
    for (const listener of this.#listeners) listener()
  }
}

/** The key of an event of ink: `up`, `ctrl+r`, `enter`, or the character. */
function keyName(input: string, key: Key): string {
  const special = (
    [
      ['upArrow', 'up'],
      ['downArrow', 'down'],
      ['leftArrow', 'left'],
      ['rightArrow', 'right'],
      ['pageUp', 'pageup'],
      ['pageDown', 'pagedown'],
      ['home', 'home'],
      ['end', 'end'],
      ['return', 'enter'],
      ['escape', 'escape'],
      ['tab', 'tab'],
      // Most terminals send for the key that erases backwards what ink calls delete.
      ['backspace', 'backspace'],
      ['delete', 'backspace'],
    ] as const
  ).find(([name]) => key[name])?.[1]
  if (special) return `${key.ctrl ? 'ctrl+' : ''}${key.shift ? 'shift+' : ''}${special}`
  return key.ctrl ? `ctrl+${input}` : input
}

/** A key by its name, and the text that it types; empty for keys that are no text. */
export interface Press {
  readonly name: string
  readonly text: string
}

/** Keys that come as one sign. */
const signs: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\u007F': 'backspace',
  '\b': 'backspace',
}

/** The keys of an event of ink. Fast hands and slow lines bring several at once, and ink takes them for one text. */
export function pressesOf(input: string, key: Key): Press[] {
  // Escape and the key after it, when they come together, look like Alt and that key, which nothing here asks for.
  if (key.meta && !key.escape) return [{ name: 'escape', text: '' }, ...pressesOf(input, { ...key, meta: false })]
  const name = keyName(input, key)
  const isSign = input.length === 1 && (input < ' ' || input === '\u007F')
  if (!isSign && (input.length <= 1 || key.ctrl)) {
    const isText = input.length === 1 && input >= ' ' && !key.ctrl
    return [{ name, text: isText ? input : '' }]
  }
  return (input.match(/[\u0000-\u001F\u007F]|[^\u0000-\u001F\u007F]+/g) ?? []).map((part) => {
    if (part >= ' ' && part !== '\u007F') return { name: part, text: part }
    return { name: signs[part] ?? `ctrl+${String.fromCharCode(part.charCodeAt(0) + 96)}`, text: '' }
  })
}

/** A key as the help spells it. */
export const spelled = (name: string): string =>
  ({
    up: '↑',
    down: '↓',
    left: '←',
    right: '→',
    escape: 'Esc',
    enter: 'Enter',
    tab: 'Tab',
    'shift+tab': 'Shift-Tab',
    pageup: 'PgUp',
    pagedown: 'PgDn',
    home: 'Home',
    end: 'End',
    ' ': 'Space',
  })[name] ?? name.replace(/^ctrl\+/, '^')

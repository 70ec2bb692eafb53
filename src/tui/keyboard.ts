/** Dispatches keys to layers, from the topmost open component down to the program itself. */
import type { Key } from 'ink'

/** The action of one or several keys. */
export interface Binding {
  /** Names as returned by `keyName`; the help shows the first two. */
  readonly keys: readonly string[]
  readonly label: string
  readonly run: (key: string) => void
}

/** A set of bindings that is added and removed together. */
export interface Layer {
  /** Heading in the help. */
  readonly title: string
  readonly bindings: readonly Binding[]
  /** Called with typed text, in layers with a text input. */
  readonly onText?: (text: string) => void
  /** Whether layers below receive no keys; global keys still work. */
  readonly isModal?: boolean
}

/** Levels of layers; higher ones receive keys first. */
export const levels = { program: 0, screen: 1, panel: 2, writing: 3, dialog: 4 } as const

export class Keyboard {
  #layers: { readonly level: number; readonly layer: () => Layer }[] = []
  #changes = 0
  /** Queue of keys; the first one is being handled. */
  readonly #waiting: KeyPress[] = []
  readonly #listeners = new Set<() => void>()
  /** Global keys, which no layer can override. */
  readonly globalKeys = new Map<string, () => void>()

  /** Adds a layer; returns a function that removes it. */
  add(level: number, layer: () => Layer): () => void {
    const entry = { level, layer }
    // Within a level the layer that was opened last receives keys first.
    this.#layers = [entry, ...this.#layers].toSorted((a, b) => b.level - a.level)
    this.#changed()
    return () => {
      this.#layers = this.#layers.filter((other) => other !== entry)
      this.#changed()
    }
  }

  /** Returns a number that grows whenever a layer is added or removed. */
  readonly changes = (): number => this.#changes

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The layers that receive keys now, topmost first. */
  get activeLayers(): Layer[] {
    const all = this.#layers.map(({ layer }) => layer())
    const modal = all.findIndex(({ isModal }) => isModal)
    return modal === -1 ? all : all.slice(0, modal + 1)
  }

  /** Handles keys that arrived together; a layer opened by one key receives the next. */
  feed(presses: readonly KeyPress[]): void {
    this.#waiting.push(...presses)
    if (this.#waiting.length === presses.length) this.#next()
  }

  #next(): void {
    const [first] = this.#waiting
    if (!first) return
    this.#press(first)
    // React renders the effect of this key in the next turn; the next key must wait for the layers that this adds.
    setImmediate(() =>
      setImmediate(() => {
        this.#waiting.shift()
        this.#next()
      }),
    )
  }

  #press({ name, text }: KeyPress): void {
    const action = this.globalKeys.get(name)
    if (action) return action()
    for (const { bindings, onText } of this.activeLayers) {
      const bound = bindings.find(({ keys }) => keys.includes(name))
      if (bound) return bound.run(name)
      if (onText && text !== '') return onText(text)
    }
    // Without a text input, each character of a text is a key.
    if (text.length > 1)
      this.#waiting.splice(1, 0, ...[...text].map((character) => ({ name: character, text: character })))
  }

  #changed(): void {
    this.#changes += 1
    for (const listener of this.#listeners) listener()
  }
}

/** Names of ink's special keys. Most terminals send what ink calls `delete` for the backspace key. */
const specialKeys = {
  upArrow: 'up',
  downArrow: 'down',
  leftArrow: 'left',
  rightArrow: 'right',
  pageUp: 'pageup',
  pageDown: 'pagedown',
  home: 'home',
  end: 'end',
  return: 'enter',
  escape: 'escape',
  tab: 'tab',
  backspace: 'backspace',
  delete: 'backspace',
} as const

/** Returns the name of an ink key event: `up`, `ctrl+r`, `enter`, or the character. */
function keyName(input: string, key: Key): string {
  const special = Object.entries(specialKeys).find(([name]) => key[name as keyof typeof specialKeys])?.[1]
  if (special) return `${key.ctrl ? 'ctrl+' : ''}${key.shift ? 'shift+' : ''}${special}`
  return key.ctrl ? `ctrl+${input}` : input
}

/** A key by its name, and the text that it types; empty for keys without text. */
export interface KeyPress {
  readonly name: string
  readonly text: string
}

/** Names of keys that arrive as a control character. */
const controlKeys: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\u007F': 'backspace',
  '\b': 'backspace',
}

/** Splits an ink key event into keys: fast typing and slow connections deliver several as one text. */
export function parseKeys(input: string, key: Key): KeyPress[] {
  // Escape and a key right after it look like Alt and that key; no binding uses Alt.
  if (key.meta && !key.escape) return [{ name: 'escape', text: '' }, ...parseKeys(input, { ...key, meta: false })]
  const name = keyName(input, key)
  const isControl = input.length === 1 && (input < ' ' || input === '\u007F')
  if (!isControl && (input.length <= 1 || key.ctrl)) {
    const isText = input.length === 1 && input >= ' ' && !key.ctrl
    return [{ name, text: isText ? input : '' }]
  }
  return (input.match(/[\u0000-\u001F\u007F]|[^\u0000-\u001F\u007F]+/g) ?? []).map((part) => {
    if (part >= ' ' && part !== '\u007F') return { name: part, text: part }
    return { name: controlKeys[part] ?? `ctrl+${String.fromCharCode(part.charCodeAt(0) + 96)}`, text: '' }
  })
}

/** Returns the spelling of a key in the help. */
export const keyLabel = (name: string): string =>
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

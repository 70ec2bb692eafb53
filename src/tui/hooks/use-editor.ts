/** Line editing: cursor, history and key bindings. */
import { useEffect, useRef, useState } from 'react'
import type { Binding } from '../keyboard.ts'
import { useKeys } from './app-context.ts'

interface EditorOptions {
  readonly title: string
  readonly initial?: string
  readonly active?: boolean
  /** Earlier lines, oldest first. */
  readonly history?: readonly string[]
  /** Returns the completed text up to the cursor; null without a completion. */
  readonly complete?: (before: string) => string | null
  readonly onChange?: ((text: string) => void) | undefined
  readonly onSubmit: (text: string) => void
  readonly onCancel: () => void
}

/** The edited line. It is mutable, as several keys may arrive before the next render. */
class Line {
  text: string
  at: number
  readonly #changed: (isNew: boolean) => void
  #past: { readonly index: number; readonly draft: string } | undefined

  constructor(text: string, changed: (isNew: boolean) => void) {
    this.text = text
    this.at = text.length
    this.#changed = changed
  }

  put(text: string, at = text.length): void {
    const isNew = text !== this.text
    this.text = text
    this.at = Math.max(0, Math.min(text.length, at))
    this.#changed(isNew)
  }

  move(to: number): void {
    this.put(this.text, to)
  }

  insert(typed: string): void {
    this.put(this.text.slice(0, this.at) + typed + this.text.slice(this.at), this.at + typed.length)
  }

  /** Erases the text between a position and the cursor. */
  eraseFrom(from: number): void {
    this.put(this.text.slice(0, from) + this.text.slice(this.at), from)
  }

  get wordAt(): number {
    return this.text.slice(0, this.at).search(/\S*\s*$/)
  }

  /** Moves through the history; the line being typed comes after its last line. */
  recall(history: readonly string[], step: 1 | -1): void {
    const index = (this.#past?.index ?? history.length) + step
    if (index < 0 || index > history.length) return
    const draft = this.#past?.draft ?? this.text
    this.#past = index === history.length ? undefined : { index, draft }
    this.put(index === history.length ? draft : history[index]!)
  }

  /** Makes the next `recall` start at the end of the history. */
  resetRecall(): void {
    this.#past = undefined
  }
}

export function useEditor({ title, initial = '', active = true, onChange, ...options }: EditorOptions) {
  const [, draw] = useState(0)
  const latest = useRef(onChange)
  useEffect(() => {
    latest.current = onChange
  })
  const [line] = useState(
    () =>
      new Line(initial, (isNew) => {
        draw((count) => count + 1)
        if (isNew) latest.current?.(line.text)
      }),
  )
  const layer = { title, isModal: true, onText: (text: string) => line.insert(text), bindings: keysOf(line, options) }
  useKeys('writing', layer, active)
  /** `at` is the position of the cursor. */
  return { text: line.text, at: line.at, set: (text: string) => line.put(text) }
}

function keysOf(line: Line, { history = [], complete, onSubmit, onCancel }: Omit<EditorOptions, 'title'>): Binding[] {
  const finish = () => {
    const completed = complete?.(line.text.slice(0, line.at)) ?? null
    if (completed !== null) line.put(completed + line.text.slice(line.at), completed.length)
  }
  const submit = () => {
    line.resetRecall()
    onSubmit(line.text)
  }
  return [
    { keys: ['enter'], label: 'done', run: submit },
    { keys: ['escape', 'ctrl+g'], label: 'cancel', run: onCancel },
    ...(complete ? [{ keys: ['tab'], label: 'complete', run: finish }] : []),
    ...(history.length > 0
      ? [
          { keys: ['up', 'ctrl+p'], label: 'previous line', run: () => line.recall(history, -1) },
          { keys: ['down', 'ctrl+n'], label: 'next line', run: () => line.recall(history, 1) },
        ]
      : []),
    { keys: ['left'], label: 'left', run: () => line.move(line.at - 1) },
    { keys: ['right'], label: 'right', run: () => line.move(line.at + 1) },
    { keys: ['home', 'ctrl+a'], label: 'go to the start', run: () => line.move(0) },
    { keys: ['end', 'ctrl+e'], label: 'go to the end', run: () => line.move(line.text.length) },
    { keys: ['backspace', 'ctrl+h'], label: 'erase', run: () => line.eraseFrom(Math.max(0, line.at - 1)) },
    { keys: ['ctrl+w'], label: 'erase a word', run: () => line.eraseFrom(line.wordAt) },
    { keys: ['ctrl+u'], label: 'erase to the start', run: () => line.eraseFrom(0) },
    { keys: ['ctrl+k'], label: 'erase to the end', run: () => line.put(line.text.slice(0, line.at)) },
  ]
}

/** A line of text that is being typed: its cursor, its history, and what its keys do. */
import { useEffect, useRef, useState } from 'react'
import type { Binding } from '../keyboard.ts'
import { useKeys } from './use-keys.ts'

interface EditorWishes {
  readonly title: string
  readonly initial?: string
  readonly active?: boolean
  /** Lines that were typed before, the oldest first. */
  readonly history?: readonly string[]
  /** What takes the place of the text up to the cursor; null when nothing does. */
  readonly complete?: (before: string) => string | null
  readonly onChange?: ((text: string) => void) | undefined
  readonly onSubmit: (text: string) => void
  readonly onCancel: () => void
}

export interface Editor {
  readonly text: string
  /** Where the cursor is. */
  readonly at: number
  readonly set: (text: string) => void
}

/** Several keys may come in one moment: each works on what the one before it left. */
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

  /** Takes away what stands between there and the cursor. */
  eraseFrom(from: number): void {
    this.put(this.text.slice(0, from) + this.text.slice(this.at), from)
  }

  get wordAt(): number {
    return this.text.slice(0, this.at).search(/\S*\s*$/)
  }

  /** Goes through what was typed before; what is being typed comes after the last of it. */
  recall(history: readonly string[], step: 1 | -1): void {
    const index = (this.#past?.index ?? history.length) + step
    if (index < 0 || index > history.length) return
    const draft = this.#past?.draft ?? this.text
    this.#past = index === history.length ? undefined : { index, draft }
    this.put(index === history.length ? draft : history[index]!)
  }

  /** The next look into the past begins at its end. */
  settle(): void {
    this.#past = undefined
  }
}

export function useEditor({ title, initial = '', active = true, onChange, ...wishes }: EditorWishes): Editor {
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
  const layer = { title, isModal: true, onText: (text: string) => line.insert(text), bindings: keysOf(line, wishes) }
  useKeys('writing', layer, active)
  return { text: line.text, at: line.at, set: (text) => line.put(text) }
}

function keysOf(
  line: Line,
  { history = [], complete, onSubmit, onCancel }: Pick<EditorWishes, 'history' | 'complete' | 'onSubmit' | 'onCancel'>,
): Binding[] {
  const finish = () => {
    const better = complete?.(line.text.slice(0, line.at))
    if (better !== null && better !== undefined) line.put(better + line.text.slice(line.at), better.length)
  }
  const submit = () => {
    line.settle()
    onSubmit(line.text)
  }
  return [
    { keys: ['enter'], does: 'done', run: submit },
    { keys: ['escape', 'ctrl+g'], does: 'leave', run: onCancel },
    ...(complete ? [{ keys: ['tab'], does: 'complete', run: finish }] : []),
    ...(history.length > 0
      ? [
          { keys: ['up', 'ctrl+p'], does: 'the line before', run: () => line.recall(history, -1) },
          { keys: ['down', 'ctrl+n'], does: 'the line after', run: () => line.recall(history, 1) },
        ]
      : []),
    { keys: ['left'], does: 'left', run: () => line.move(line.at - 1) },
    { keys: ['right'], does: 'right', run: () => line.move(line.at + 1) },
    { keys: ['home', 'ctrl+a'], does: 'to the beginning', run: () => line.move(0) },
    { keys: ['end', 'ctrl+e'], does: 'to the end', run: () => line.move(line.text.length) },
    { keys: ['backspace', 'ctrl+h'], does: 'erase', run: () => line.eraseFrom(Math.max(0, line.at - 1)) },
    { keys: ['ctrl+w'], does: 'erase a word', run: () => line.eraseFrom(line.wordAt) },
    { keys: ['ctrl+u'], does: 'erase to the beginning', run: () => line.eraseFrom(0) },
    { keys: ['ctrl+k'], does: 'erase to the end', run: () => line.put(line.text.slice(0, line.at)) },
  ]
}

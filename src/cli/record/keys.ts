/** Keys in the terminal during a recording. */
import type { SessionRecord } from '../../core/shapes/session.ts'
import { literalGlob } from '../../core/text/literal-glob.ts'
import type { Io } from '../io.ts'
import type { RecordedStep } from '../../core/shapes/recording.ts'

export const keyHelp = 't: expect the title, u: wait for the URL, v: expect the last element to be visible, q: end'

/** Calls `onKey` for each key; returns a function that restores the terminal. */
export function listenForKeys({ stdin }: Io, onKey: (key: string) => void): () => void {
  const isRaw = stdin.isTTY === true && stdin.setRawMode !== undefined
  if (isRaw) stdin.setRawMode?.(true)
  const read = async () => {
    for await (const chunk of stdin) for (const key of Buffer.from(chunk).toString()) onKey(key)
  }
  // Recording continues without keys when standard input fails.
  void read().catch(() => {})
  return () => {
    if (isRaw) stdin.setRawMode?.(false)
  }
}

/** Returns the step that a key adds, or why it adds none. */
export function stepOfKey(
  key: 't' | 'u' | 'v',
  page: SessionRecord,
  lastSelector: string | undefined,
): RecordedStep | string {
  if (key === 't') {
    return page.title ? { command: 'verify', data: { title: page.title } } : 'the page has no title'
  }
  if (key === 'u') return { command: 'wait_for', data: { url: literalGlob(page.url) } }
  if (lastSelector === undefined) return 'no step has an element yet'
  return { command: 'verify', data: { selector: lastSelector } }
}

/** The history of typed lines, stored in the state folder. */
import { readFileSync } from 'node:fs'
import { useState } from 'react'
import { writeAtomic } from '../../core/state/files.ts'
import { useAppContext } from './app-context.ts'

const maxLines = 500

export class History {
  readonly #file: string
  #lines: readonly string[]
  #writing: Promise<void> = Promise.resolve()

  constructor(file: string) {
    this.#file = file
    this.#lines = read(file)
  }

  /** Lines, oldest first. */
  get lines(): readonly string[] {
    return this.#lines
  }

  /** Appends a line and keeps those that other terminals have added meanwhile. @throws Error of the file system. */
  async add(line: string): Promise<void> {
    this.#lines = appended(this.#lines, line)
    this.#writing = this.#writing.then(() =>
      writeAtomic(this.#file, `${appended(read(this.#file), line).join('\n')}\n`),
    )
    return this.#writing
  }
}

const appended = (lines: readonly string[], line: string): readonly string[] =>
  lines.at(-1) === line ? lines : [...lines, line].slice(-maxLines)

function read(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Returns the lines of this terminal and others, and a function that adds one; it rejects when it cannot be stored. */
export function useHistory() {
  const { host } = useAppContext()
  const [history] = useState(() => new History(host.historyFile))
  const [lines, setLines] = useState(history.lines)
  const remember = (line: string) => {
    const stored = history.add(line)
    setLines(history.lines)
    return stored
  }
  return { history: lines, remember }
}

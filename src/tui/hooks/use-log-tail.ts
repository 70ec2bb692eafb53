import { open } from 'node:fs/promises'
import { useEffect, useState } from 'react'

const tailBytes = 64 * 1024

/** Follows the last lines of a file, checked every `every` milliseconds; null while the file is missing. */
export function useLogTail(file: string | null, every: number): string | null {
  const [text, setText] = useState<string | null>(null)
  useEffect(() => {
    if (file === null) return undefined
    let ended = false
    let timer: NodeJS.Timeout | undefined
    let stamp = ''
    const check = async () => {
      try {
        const found = await readTail(file, stamp)
        if (found && !ended) {
          stamp = found.stamp
          setText(found.text)
        }
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException
        if (!ended) setText(code === 'ENOENT' ? null : `cannot read the log: ${message}`)
      }
      if (!ended) timer = setTimeout(() => void check(), every)
    }
    void check()
    return () => {
      ended = true
      clearTimeout(timer)
    }
  }, [file, every])
  return text
}

/** Returns null when the file has not changed since the stamp. */
async function readTail(file: string, stamp: string): Promise<{ text: string; stamp: string } | null> {
  const handle = await open(file)
  try {
    const { size, mtimeMs, ino } = await handle.stat()
    const now = `${ino} ${size} ${mtimeMs}`
    if (now === stamp) return null
    const from = Math.max(0, size - tailBytes)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - from), 0, size - from, from)
    const text = buffer.toString('utf8', 0, bytesRead)
    // The first line is probably incomplete.
    return { text: from > 0 ? text.slice(text.indexOf('\n') + 1) : text, stamp: now }
  } finally {
    await handle.close()
  }
}

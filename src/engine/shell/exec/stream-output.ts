/** Adds a program's output to its frames, at the pace of their readers. */
import { limits } from '../../../core/limits/limits.ts'
import type { FrameLog } from './frame-log.ts'
import { Pieces } from './pieces.ts'

export type OutputType = 'stdout' | 'stderr' | 'pty'

/** Adds one stream of output until it ends; returns its number of bytes. */
export async function streamOutput(
  source: AsyncIterable<Uint8Array>,
  log: FrameLog,
  type: OutputType,
): Promise<number> {
  const pieces = new Pieces()
  let bytes = 0
  let timer: NodeJS.Timeout | undefined
  const addFrames = (found: ReturnType<Pieces['push']>) => {
    for (const piece of found) log.add(type, { ...piece }, piece.data.length)
  }
  try {
    for await (const chunk of source) {
      clearTimeout(timer)
      bytes += chunk.length
      addFrames(pieces.push(chunk))
      await log.room()
      // A program may write an incomplete character and then wait for input.
      if (pieces.hasIncomplete) timer = setTimeout(() => addFrames(pieces.flush()), limits.exec.tailMs)
    }
  } finally {
    clearTimeout(timer)
    addFrames(pieces.flush())
  }
  return bytes
}

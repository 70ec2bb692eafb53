/** Adds a program's output to its frames, at the pace of their readers. */
import { limits } from '../../../core/limits/limits.ts'
import type { ContainerExec } from '../container-exec.ts'
import type { FrameLog } from './frame-log.ts'
import { Pieces } from './pieces.ts'
import type { DeliveredBytes } from './running-exec.ts'

type OutputType = 'stdout' | 'stderr' | 'pty'

/** Returns a function that resolves when both streams have ended. A terminal has one stream, called `pty`. */
export const streamOutput =
  (log: FrameLog, isTerminal: boolean) =>
  async (exec: ContainerExec): Promise<DeliveredBytes> => {
    const [stdout, stderr] = await Promise.all([
      streamOne(exec.stdout, log, isTerminal ? 'pty' : 'stdout'),
      streamOne(exec.stderr, log, 'stderr'),
    ])
    return { stdout, stderr }
  }

async function streamOne(source: AsyncIterable<Uint8Array>, log: FrameLog, type: OutputType): Promise<number> {
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

/** Hands a program's output to its frames, at the pace of their reader. */
import { limits } from '../../../core/limits/limits.ts'
import type { ContainerExec } from '../container-exec.ts'
import type { FrameLog } from './frame-log.ts'
import { Pieces } from './pieces.ts'
import type { Handed } from './running-exec.ts'

type OutputType = 'stdout' | 'stderr' | 'pty'

/** Resolves when both streams have ended. A terminal has one stream, called pty. */
export const streamOutput =
  (log: FrameLog, isTerminal: boolean) =>
  async (exec: ContainerExec): Promise<Handed> => {
    const [stdout, stderr] = await Promise.all([
      streamOne(exec.stdout, log, isTerminal ? 'pty' : 'stdout'),
      streamOne(exec.stderr, log, 'stderr'),
    ])
    return { stdout, stderr }
  }

async function streamOne(source: AsyncIterable<Uint8Array>, log: FrameLog, type: OutputType): Promise<number> {
  const pieces = new Pieces()
  let bytes = 0
  let late: NodeJS.Timeout | undefined
  const tell = (found: ReturnType<Pieces['push']>) => {
    for (const piece of found) log.add(type, { ...piece }, piece.data.length)
  }
  try {
    for await (const chunk of source) {
      clearTimeout(late)
      bytes += chunk.length
      tell(pieces.push(chunk))
      await log.room()
      // A program may write half a character and then wait for an answer.
      if (pieces.holds) late = setTimeout(() => tell(pieces.flush()), limits.exec.tailMs)
    }
  } finally {
    clearTimeout(late)
    tell(pieces.flush())
  }
  return bytes
}

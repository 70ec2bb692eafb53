/** Writes bytes as they are, at the pace of whoever reads them. */
import type { Output } from '../io.ts'

/** The reader of an output has gone; what wrote for it has no reason to go on. */
export class ReaderGone extends Error {
  constructor() {
    super('the reader of the output is gone')
    this.name = 'ReaderGone'
  }
}

/** Resolves when there is room for more. @throws ReaderGone. */
export async function writeThrough(output: Output, bytes: Uint8Array): Promise<void> {
  if (output.writable === false) throw new ReaderGone()
  if (output.write(bytes) !== false || !output.once) return
  await new Promise<void>((resolve) => {
    const go = () => {
      output.off?.('drain', go)
      output.off?.('close', go)
      resolve()
    }
    output.once!('drain', go)
    output.once!('close', go)
  })
}

/** Writes bytes as they are, at the pace of whoever reads them. */
import type { Output } from '../io.ts'

/** The reader of an output has gone; what wrote for it has no reason to go on. */
export class ReaderGone extends Error {
  constructor(cause: Error) {
    super('the reader of the output is gone', { cause })
    this.name = 'ReaderGone'
  }
}

/** Resolves when the bytes have left. @throws ReaderGone. */
export async function writeThrough(output: Output, bytes: Uint8Array): Promise<void> {
  if (!output.on) {
    output.write(bytes)
    return
  }
  await new Promise<void>((resolve, reject) => {
    output.write(bytes, (error) => (error ? reject(new ReaderGone(error)) : resolve()))
  })
}

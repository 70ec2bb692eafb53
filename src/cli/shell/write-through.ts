/** Writes bytes with backpressure. */
import type { Output } from '../io.ts'

/** Thrown after the reader of an output has closed it. */
export class ReaderGone extends Error {
  constructor(cause: Error) {
    super('the output is closed', { cause })
    this.name = 'ReaderGone'
  }
}

/** Resolves when the bytes are written. @throws ReaderGone */
export async function writeThrough(output: Output, bytes: Uint8Array): Promise<void> {
  if (!output.on) {
    output.write(bytes)
    return
  }
  await new Promise<void>((resolve, reject) => {
    output.write(bytes, (error) => (error ? reject(new ReaderGone(error)) : resolve()))
  })
}

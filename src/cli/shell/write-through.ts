/** Writes bytes with backpressure. */
import { type Output, ReaderGone } from '../io.ts'

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

/** Reads forms (multipart/form-data) with one file, as they arrive. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { BaxError } from '../../core/errors/errors.ts'

export interface FormLimits {
  readonly fileBytes: number
  /** Size of another field. */
  readonly fieldBytes: number
  /** Number of parts. */
  readonly parts: number
}

export interface Form {
  readonly file?: { readonly name: string; readonly contentType: string; readonly bytes: Uint8Array }
  /** The first value of each other field. */
  readonly fields: ReadonlyMap<string, string>
}

/** Returns the maximum size of a form. */
export const formBytes = ({ fileBytes, fieldBytes, parts }: FormLimits): number => fileBytes + parts * fieldBytes

/** @throws BaxError `payload_too_large`, `unsupported_media_type` for a body that is not a form, or is incomplete */
export async function readForm(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  { fileBytes, fieldBytes, parts }: FormLimits,
): Promise<Form> {
  // A bundle has only the default export of this package.
  const { Busboy } = (await import('@fastify/busboy')).default
  const fields = new Map<string, string>()
  let file: Form['file']
  let received = false
  try {
    // Busboy reads other forms, too, and takes an empty boundary.
    if (!/^multipart\/form-data\s*;.*boundary="?[^"]/i.test(contentType))
      throw new Error('the content type has no boundary')
    const parser = new Busboy({
      headers: { 'content-type': contentType },
      limits: { fileSize: fileBytes, fieldSize: fieldBytes, parts, headerPairs: 50, headerSize: 16_384 },
    })
    const reject = (what: string) => parser.destroy(new BaxError('payload_too_large', what))
    parser.on('partsLimit', () => reject(`the form has more than ${parts} parts`))
    parser.on('field', (name, value, _, isTruncated) => {
      if (isTruncated) reject(`the field ${name} is larger than ${fieldBytes / 1024} kB`)
      if (!fields.has(name)) fields.set(name, value)
    })
    parser.on('file', (field, stream, name: string | undefined, _encoding, type) => {
      const isFirst = field === 'file' && !received
      received ||= isFirst
      const chunks: Uint8Array[] = []
      stream.on('data', (chunk: Uint8Array) => isFirst && chunks.push(chunk))
      stream.on('limit', () => reject(`the file is larger than ${fileBytes / 1024 / 1024} MiB`))
      // The parser reports the same error.
      stream.on('error', () => {})
      stream.on('end', () => {
        if (isFirst) file = { name: name ?? 'file', contentType: type, bytes: Buffer.concat(chunks) }
      })
    })
    await pipeline(Readable.from(limited(body, formBytes({ fileBytes, fieldBytes, parts }))), parser)
  } catch (error) {
    if (error instanceof BaxError) throw error
    throw new BaxError('unsupported_media_type', `the body must be a form: ${(error as Error).message}`, {
      cause: error,
      hint: 'send multipart/form-data with the fields file and options',
    })
  }
  return { fields, ...(file && { file }) }
}

/** Limits what surrounds the parts. */
async function* limited(body: AsyncIterable<Uint8Array>, most: number): AsyncIterable<Uint8Array> {
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > most) throw new BaxError('payload_too_large', 'the form is too large')
    yield chunk
  }
}

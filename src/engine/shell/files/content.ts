/** Reads and writes files of a session. */
import { createHash } from 'node:crypto'
import type { Content } from '../../../core/operation/call.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { WriteInput, WriteOutput } from '../../../core/shapes/shell/files.ts'
import type { UploadInput } from '../../../core/shapes/shell/transfers.ts'
import { isoOf, modeOf } from '../artifacts/manifest.ts'
import type { FileFacts } from '../container-files.ts'
import type { ContainerFiles } from '../interface.ts'
import { bytesOf, encodeBytes } from '../exec/characters.ts'
import { percentEncoded } from '../../name-bytes.ts'
import { onPath } from './errors.ts'
import type { FileWork } from './file-work.ts'
import { baseName, type ResolvedPath, resolvePath } from './paths.ts'

/** Reads a file. @throws BaxError `payload_too_large` if the rest is too long and no length is given. */
export const readFile: FileWork<'read'> = async (files, input) => {
  const { shown, bytes } = resolvePath(input.path, input.path_b64)
  const { offset, length, encoding } = input
  const { facts, data } = await onPath(shown.path, () =>
    files.read(bytes, { offset, length: length ?? limits.files.readBytes + 1 }),
  )
  if (data.length > limits.files.readBytes) {
    const message = `${JSON.stringify(shown.path)} has ${facts.size} bytes, too many for one response`
    throw new BaxError('payload_too_large', message, {
      hint: 'read it in pieces with offset and length, or whole with GET /shell/fs/raw (bax shell download)',
      details: { size: facts.size, most: limits.files.readBytes },
    })
  }
  const { text, encoding: usedEncoding } = encodeBytes(data, encoding)
  // Files of /proc and /sys report a size of 0 but have content.
  const size = Math.max(facts.size, data.length > 0 ? offset + data.length : 0)
  return {
    ...shown,
    content: text,
    encoding: usedEncoding,
    size,
    offset,
    bytes_read: data.length,
    eof: offset + data.length >= size,
    modified_at: isoOf(facts.modifiedNs),
  }
}

export const writeFile: FileWork<'write'> = async (files, input) => {
  const target = resolvePath(input.path, input.path_b64)
  return put(files, target, bytesOf(input.content, input.encoding, 'content'), input)
}

export const receiveFile = (
  files: ContainerFiles,
  input: UploadInput,
  body: AsyncIterable<Uint8Array>,
): Promise<WriteOutput> => put(files, resolvePath(input.path, input.path_b64), body, input)

async function put(
  files: ContainerFiles,
  { shown, bytes }: ResolvedPath,
  content: Uint8Array | AsyncIterable<Uint8Array>,
  { mode, append = false, create_dirs, overwrite }: UploadInput & Partial<Pick<WriteInput, 'append'>>,
): Promise<WriteOutput> {
  const options = {
    append,
    createDirs: create_dirs,
    overwrite,
    ...(mode !== undefined && { mode: Number.parseInt(mode, 8) }),
  }
  const { facts, bytesWritten, created } = await onPath(shown.path, () => files.write(bytes, content, options))
  return {
    ...shown,
    size: facts.size,
    bytes_written: bytesWritten,
    created,
    mode: modeOf(facts.mode),
    modified_at: isoOf(facts.modifiedNs),
  }
}

/** Opens a file for download, following links. `hold` keeps its session until the returned function is called. */
export async function openFile(
  files: ContainerFiles,
  { path, path_b64 }: { path?: string | undefined; path_b64?: string | undefined },
  hold: () => () => void,
): Promise<Content> {
  const { shown, bytes } = resolvePath(path, path_b64)
  const facts = await onPath(shown.path, () => files.info(bytes, { follow: true }))
  if (facts.type === 'directory') throw new BaxError('is_a_directory', `${JSON.stringify(shown.path)} is a directory`)
  if (facts.type !== 'file') throw new BaxError('not_a_file', `${JSON.stringify(shown.path)} is not a regular file`)
  return {
    size: facts.size,
    etag: tagOf(facts),
    contentType: 'application/octet-stream',
    fileName: percentEncoded(baseName(Buffer.from(bytes as string))),
    read: async function* (start, end) {
      const release = hold()
      try {
        yield* range(files, bytes, facts, start, end)
      } finally {
        release()
      }
    },
  }
}

/** Yields exactly the promised bytes; fails if the file has changed. */
async function* range(files: ContainerFiles, path: string | Buffer, expected: FileFacts, start: number, end: number) {
  const stream = await files.readStream(path, { offset: start, length: end - start })
  let left = end - start
  if (tagOf(stream.facts) !== tagOf(expected)) throw changed()
  for await (const chunk of stream.data) {
    left -= chunk.length
    yield chunk
  }
  if (left !== 0) throw changed()
}

const changed = () => new BaxError('conflict', 'the file changed while it was being read')

const tagOf = ({ inode, device, size, changedNs }: FileFacts): string =>
  createHash('sha256').update(`${inode} ${device} ${size} ${changedNs}`).digest('hex').slice(0, 32)

export async function checksumOf(files: ContainerFiles, path: string | Buffer): Promise<string> {
  const hash = createHash('sha256')
  const { data } = await files.readStream(path)
  for await (const chunk of data) hash.update(chunk)
  return hash.digest('hex')
}

/** A tar archive of a few small entries, as Docker takes files. */
import { pack } from 'tar-stream'

export interface TarEntry {
  /** Path without a leading slash. */
  readonly path: string
  /** A file's bytes. */
  readonly content?: Uint8Array
  /** A link's target. With neither of both it is a folder. */
  readonly link?: string
  readonly mode: number
}

/** The archive; everything in it belongs to root. */
export async function tar(entries: readonly TarEntry[]): Promise<Buffer> {
  const archive = pack()
  for (const { path, content, link, mode } of entries) {
    if (content) archive.entry({ name: path, mode, size: content.length }, Buffer.from(content))
    else if (link !== undefined) archive.entry({ name: path, mode, type: 'symlink', linkname: link })
    else archive.entry({ name: path, mode, type: 'directory' })
  }
  archive.finalize()
  const parts: Buffer[] = []
  for await (const part of archive) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

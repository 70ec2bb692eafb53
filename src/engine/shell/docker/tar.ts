/** Builds small tar archives, the format in which Docker accepts files. */
import { pack } from 'tar-stream'

export interface TarEntry {
  /** Path without a leading slash. */
  readonly path: string
  readonly content?: Uint8Array
  /** Target of a symbolic link. Without `content` and `link` the entry is a folder. */
  readonly link?: string
  readonly mode: number
}

/** Returns the archive; all entries belong to root. */
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

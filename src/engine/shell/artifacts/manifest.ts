/** Builds the records of artifacts, and finds files by name. */
import mime from 'mime'
import type { Artifact, ArtifactFile } from '../../../core/shapes/shell/artifacts.ts'
import type { FileFacts } from '../container-files.ts'
import { percentEncoded, shownName, shownPath } from '../../name-bytes.ts'

/** Types that run scripts with our origin when opened in a browser. */
const active = /^(text\/html|image\/svg|application\/xhtml)|xml\b/

const contentTypeOf = (name: string): string => mime.getType(name) ?? 'application/octet-stream'

/** Returns the content type of a download. */
export const servedType = (type: string): string => (active.test(type) ? 'application/octet-stream' : type)

/** Formats nanoseconds since 1970 as ISO time. */
export const isoOf = (nanoseconds: bigint): string => new Date(Number(nanoseconds / 1_000_000n)).toISOString()

/** Formats permission bits, such as `0644`. */
export const modeOf = (mode: number): string => mode.toString(8).padStart(4, '0')

/** File whose bytes are stored. */
export interface StoredFile {
  readonly facts: FileFacts
  readonly size: number
  readonly sha256: string
  readonly unstable: boolean
}

interface CapturedFile extends StoredFile {
  readonly artifactId: string
  /** Path relative to `mount`. */
  readonly name: Uint8Array
  readonly mount: string
  readonly change: ArtifactFile['change']
}

export function fileRecord(file: CapturedFile): ArtifactFile {
  const { artifactId, name, mount, facts, size, sha256, change, unstable } = file
  const shown = shownName(name)
  const path = Buffer.concat([Buffer.from(mount === '/' ? '/' : `${mount}/`), name])
  return {
    ...shown,
    path: shownPath(path).path,
    size,
    sha256,
    content_type: contentTypeOf(shown.name),
    change,
    mode: modeOf(facts.mode),
    modified_at: isoOf(facts.modifiedNs),
    unstable,
    url: `/shell/artifacts/${artifactId}/files/${percentEncoded(name)}`,
  }
}

export const fileNamed = ({ files }: Artifact, name: Uint8Array): ArtifactFile | undefined =>
  files.find((file) => Buffer.from(file.name_b64 ?? file.name, file.name_b64 ? 'base64' : 'utf8').equals(name))

/** What is kept of an artifact: the record as it is shown, and the way from a name to its bytes. */
import mime from 'mime'
import type { Artifact, ArtifactFile } from '../../../core/shapes/shell/artifacts.ts'
import type { FileFacts } from '../container-files.ts'
import { percentEncoded, shownName, shownPath } from '../names.ts'

/** A page from here would run with the rights of our origin. */
const active = /^(text\/html|image\/svg|application\/xhtml)|xml\b/

/** The type of a file by its name. */
const contentTypeOf = (name: string): string => mime.getType(name) ?? 'application/octet-stream'

/** The type that a download says. */
export const servedType = (type: string): string => (active.test(type) ? 'application/octet-stream' : type)

/** ISO time of nanoseconds since 1970. */
export const isoOf = (nanoseconds: bigint): string => new Date(Number(nanoseconds / 1_000_000n)).toISOString()

/** `0644` */
export const modeOf = (mode: number): string => mode.toString(8).padStart(4, '0')

export interface Delivered {
  readonly artifactId: string
  /** Below `mount`. */
  readonly name: Uint8Array
  readonly mount: string
  readonly facts: FileFacts
  readonly size: number
  readonly sha256: string
  readonly change: ArtifactFile['change']
  readonly unstable: boolean
}

/** One file of an artifact. */
export function fileRecord(file: Delivered): ArtifactFile {
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

/** The file of that very name. */
export const fileNamed = ({ files }: Artifact, name: Uint8Array): ArtifactFile | undefined =>
  files.find((file) => Buffer.from(file.name_b64 ?? file.name, file.name_b64 ? 'base64' : 'utf8').equals(name))

/** Paths of requests and of answers: absolute, as bytes where they are not UTF-8. */
import { posix } from 'node:path'
import { shownPath } from '../names.ts'

/** A path as it was asked for. */
export interface Place {
  /** For the container. */
  readonly bytes: string | Buffer
  /** Absolute, for answers and errors. */
  readonly shown: { readonly path: string; readonly path_b64?: string }
}

const home = '/workspace'

/** The place that `path` or `path_b64` names; /workspace without either. */
export function placeOf(path: string | undefined, base64: string | undefined): Place {
  if (base64 !== undefined) {
    const bytes = Buffer.from(base64, 'base64')
    const absolute = bytes[0] === 0x2f ? bytes : Buffer.concat([Buffer.from(`${home}/`), bytes])
    return { bytes: absolute, shown: shownPath(absolute) }
  }
  const absolute = absolutePath(path ?? home)
  return { bytes: absolute, shown: { path: absolute } }
}

/** Where links may be, `..` is the container's business: only what is surely the same is written shorter. */
function absolutePath(path: string): string {
  const whole = path.startsWith('/') ? path : `${home}/${path}`
  if (whole.split('/').includes('..')) return whole
  const short = posix.normalize(whole)
  return short.length > 1 && short.endsWith('/') ? short.slice(0, -1) : short
}

/** The path of something below a folder. */
export function below(folder: Place, name: Uint8Array): Buffer {
  const start = Buffer.from(folder.bytes)
  const separator = start.at(-1) === 0x2f ? '' : '/'
  return Buffer.concat([start, Buffer.from(separator), name])
}

/** The last part of a path. */
export function lastPart(path: Uint8Array): Buffer {
  const bytes = Buffer.from(path)
  return bytes.subarray(bytes.lastIndexOf(0x2f) + 1)
}

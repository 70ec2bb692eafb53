/** Resolves paths of requests: absolute, and as bytes if they are not UTF-8. */
import { posix } from 'node:path'
import { shownPath } from '../../name-bytes.ts'

/** Resolved path of a request. */
export interface ResolvedPath {
  /** Path for the container. */
  readonly bytes: string | Buffer
  /** Absolute path for responses and errors. */
  readonly shown: { readonly path: string; readonly path_b64?: string }
}

const workspace = '/workspace'

/** Resolves `path` or `path_b64`; /workspace without either. */
export function resolvePath(path: string | undefined, base64: string | undefined): ResolvedPath {
  if (base64 !== undefined) {
    const bytes = Buffer.from(base64, 'base64')
    const absolute = bytes[0] === 0x2f ? bytes : Buffer.concat([Buffer.from(`${workspace}/`), bytes])
    return { bytes: absolute, shown: shownPath(absolute) }
  }
  const absolute = absolutePath(path ?? workspace)
  return { bytes: absolute, shown: { path: absolute } }
}

/** Normalizes a path unless it contains `..`, whose meaning depends on links in the container. */
function absolutePath(path: string): string {
  const full = path.startsWith('/') ? path : `${workspace}/${path}`
  if (full.split('/').includes('..')) return full
  const short = posix.normalize(full)
  return short.length > 1 && short.endsWith('/') ? short.slice(0, -1) : short
}

/** Returns the path of an entry in a folder. */
export function below(folder: ResolvedPath, name: Uint8Array): Buffer {
  const start = Buffer.from(folder.bytes)
  const separator = start.at(-1) === 0x2f ? '' : '/'
  return Buffer.concat([start, Buffer.from(separator), name])
}

export function baseName(path: Uint8Array): Buffer {
  const bytes = Buffer.from(path)
  return bytes.subarray(bytes.lastIndexOf(0x2f) + 1)
}

/** Derives paths of pages in a mirror from their URLs: unique relative paths that are valid on every file system. */
import { createHash } from 'node:crypto'
import { decodeUrlPart } from '../../../core/net/urls.ts'

/** Maximum length of a name, in bytes: extensions and numbers must fit into the 255 of file systems. */
const nameBytes = 120
/** Maximum length of a path below the folder, in bytes: Windows allows 260 characters for a whole path. */
const pathBytes = 200

const pageEnding = /\.(?:x?html?|md|markdown)$/i
/** A page named `a.links` would collide with the links of page `a`. */
const takenEnding = /\.(?:raw|links|images|json|summary|branding|actions|changes|product|attributes)$/i
/** A folder named `a.md` would collide with the Markdown of page `a`. */
const fileEnding = /\.(?:md|html|json|png|txt)$/i
const reserved = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)/i

/**
 * Returns the path of a page without its extension, such as `docs.example.com/guide/intro`. Names contain the query and
 * the fragment, but no characters that file systems reject, hide or interpret. Different pages may get the same path,
 * or paths that differ in case only; `Names` makes them unique.
 */
export function pathOf(url: string): string {
  const { hostname, port, pathname, search, hash } = new URL(url)
  const folders = pathname.split('/').filter((part, at, all) => part !== '' && at < all.length - 1)
  const last = pathname.slice(pathname.lastIndexOf('/') + 1).replace(pageEnding, '') || 'index'
  const extra = [search, hash].filter((part) => part.length > 1).map((part) => `@${part.replace(/^[?#][!/]*/, '')}`)
  const host = safeName(port ? `${hostname}-${port}` : hostname)
  const leaf = cut(safeName([last, ...extra].join('')), nameBytes).replace(takenEnding, '$&_')
  const parts = [host, ...folders.map(folderName), leaf]
  if (Buffer.byteLength(parts.join('/')) <= pathBytes) return parts.join('/')
  return shortened(parts, url)
}

/** Returns a hash of a URL, for names that two pages would share; at most 64 characters. */
export const hashOf = (text: string, length = 8): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length)

const folderName = (part: string): string =>
  cut(safeName(part), nameBytes).replace(/\.+$/, '_').replace(fileEnding, '$&_')

/** Limits a name to letters, digits and a few signs; avoids hidden names, flags and names reserved by Windows. */
function safeName(part: string): string {
  const name = decodeUrlPart(part)
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}._~+@=,-]+/gu, '-')
    .replace(/^[.-]+/, '_')
  return name.replace(reserved, '_$&') || '_'
}

/** Cuts a name and appends a hash of all of it, so that long names with the same beginning stay unique. */
function cut(name: string, bytes: number): string {
  if (Buffer.byteLength(name) <= bytes) return name
  const mark = `-${hashOf(name)}`
  let kept = ''
  let size = mark.length
  for (const char of name) {
    size += Buffer.byteLength(char)
    if (size > bytes) break
    kept += char
  }
  return kept + mark
}

/** Keeps as many leading folders as fit, and replaces the rest by a hash. */
function shortened(parts: readonly string[], url: string): string {
  const leaf = `${cut(parts.at(-1)!, 60)}-${hashOf(url)}`
  const kept = [parts[0]!]
  let size = Buffer.byteLength(`${parts[0]}/${leaf}`)
  for (const part of parts.slice(1, -1)) {
    size += Buffer.byteLength(part) + 1
    if (size > pathBytes) break
    kept.push(part)
  }
  return [...kept, leaf].join('/')
}

export class Names {
  /** URLs by their folded path. */
  readonly #owners = new Map<string, string>()
  /** Folded paths that several pages share. */
  readonly #shared = new Set<string>()

  /** Returns a path without extension for a page; a path that is taken gets a hash of the URL. */
  take(url: string): string {
    const plain = pathOf(url)
    const owner = this.#owners.get(folded(plain))
    if (owner === url) return plain
    if (owner === undefined) {
      this.#owners.set(folded(plain), url)
      return plain
    }
    this.#shared.add(folded(plain))
    return this.#withHash(plain, url)
  }

  /** Returns the final path, once all pages are known: those with the same path all get a hash, whatever the order. */
  final(url: string): string {
    const plain = pathOf(url)
    return this.#shared.has(folded(plain)) ? this.#withHash(plain, url) : plain
  }

  /** Appends as much of the hash as needed: a site may have a page whose name equals another one with its hash. */
  #withHash(plain: string, url: string): string {
    for (let length = 8; ; length += 8) {
      const path = `${plain}-${hashOf(url, length)}`
      const owner = this.#owners.get(folded(path))
      if (owner !== undefined && owner !== url) continue
      this.#owners.set(folded(path), url)
      return path
    }
  }
}

const folded = (path: string): string => path.toUpperCase().toLowerCase().normalize('NFC')

/** Where a page lies in a folder that mirrors its site: a relative path that every file system takes, made from its address alone. */
import { createHash } from 'node:crypto'

/** Bytes of one name, so that endings and numbers still fit into the 255 that file systems allow. */
const nameBytes = 120
/** Bytes of the whole path below the folder; Windows allows 260 characters with everything before it. */
const pathBytes = 200

const pageEnding = /\.(?:x?html?|md|markdown)$/i
/** `a.links` as the name of a page would meet the links of page `a`. */
const takenEnding = /\.(?:raw|links|images|json|summary|branding|actions)$/i
/** `a.md/` as the name of a folder would meet the Markdown of page `a`. */
const fileEnding = /\.(?:md|html|json|png|txt)$/i
const reserved = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)/i

/**
 * Path of a page without its ending, with `/` between its parts: `docs.example.com/guide/intro`. The query and the
 * fragment of a route stand in the name; what file systems refuse, hide or take for something else does not.
 * Different pages may get the same path, or two that differ in case only: `Names` tells them apart.
 */
export function pathOf(address: string): string {
  const { hostname, port, pathname, search, hash } = new URL(address)
  const folders = pathname.split('/').filter((part, at, all) => part !== '' && at < all.length - 1)
  const last = pathname.slice(pathname.lastIndexOf('/') + 1).replace(pageEnding, '') || 'index'
  const extra = [search, hash].filter((part) => part.length > 1).map((part) => `@${part.replace(/^[?#][!/]*/, '')}`)
  const host = safeName(port ? `${hostname}-${port}` : hostname)
  const leaf = cut(safeName([last, ...extra].join('')), nameBytes).replace(takenEnding, '$&_')
  const parts = [host, ...folders.map(folderName), leaf]
  if (Buffer.byteLength(parts.join('/')) <= pathBytes) return parts.join('/')
  return shortened(parts, address)
}

/** Characters that tell an address from others, for names that two pages would share; 64 at most. */
export const markOf = (text: string, length = 8): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length)

const folderName = (part: string): string =>
  cut(safeName(part), nameBytes).replace(/\.+$/, '_').replace(fileEnding, '$&_')

/** Letters, digits and a few signs; no name that hides, that looks like a flag, or that Windows keeps for itself. */
function safeName(part: string): string {
  const name = decoded(part)
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}._~+@=,-]+/gu, '-')
    .replace(/^[.-]+/, '_')
  return name.replace(reserved, '_$&') || '_'
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** What does not fit gives way to a mark of the whole, so that long names which begin alike stay apart. */
function cut(name: string, bytes: number): string {
  if (Buffer.byteLength(name) <= bytes) return name
  const mark = `-${markOf(name)}`
  let kept = ''
  let size = mark.length
  for (const char of name) {
    size += Buffer.byteLength(char)
    if (size > bytes) break
    kept += char
  }
  return kept + mark
}

/** The first folders, as many as fit, and a name that stands for all the rest. */
function shortened(parts: readonly string[], address: string): string {
  const leaf = `${cut(parts.at(-1)!, 60)}-${markOf(address)}`
  const kept = [parts[0]!]
  let size = Buffer.byteLength(`${parts[0]}/${leaf}`)
  for (const part of parts.slice(1, -1)) {
    size += Buffer.byteLength(part) + 1
    if (size > pathBytes) break
    kept.push(part)
  }
  return [...kept, leaf].join('/')
}

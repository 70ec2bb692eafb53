/** File names for pages. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Returns a path derived from a URL, such as `example.com-docs-intro.md`, with a number if it is taken. With `taken`,
 * files of earlier runs are overwritten; without it, existing files are not.
 */
export function nameFor(folder: string, url: string, extension: string, taken?: Set<string>): string {
  const stem = stemOf(url)
  for (let count = 1; ; count++) {
    const path = join(folder, `${stem}${count > 1 ? `-${count}` : ''}.${extension}`)
    if (taken ? taken.has(path) : existsSync(path)) continue
    taken?.add(path)
    return path
  }
}

function stemOf(url: string): string {
  const full = /^https?:/i.test(url) ? url : `https://${url}`
  const { host, pathname, search } = URL.canParse(full) ? new URL(full) : { host: url, pathname: '', search: '' }
  const text = `${host}${pathname.replace(/\.x?html?$/i, '')}${search}`
  const stem = safeDecode(text)
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
  return stem.slice(0, 120) || 'page'
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

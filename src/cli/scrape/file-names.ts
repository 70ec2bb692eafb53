import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** A file name made from an address, `example.com-docs-intro.md`; one that is taken gets a number. */
export function nameFor(folder: string, address: string, extension: string, taken?: Set<string>): string {
  const stem = stemOf(address)
  for (let count = 1; ; count++) {
    const path = join(folder, `${stem}${count > 1 ? `-${count}` : ''}.${extension}`)
    // What an earlier run wrote into a folder is replaced; what stands beside it elsewhere is not.
    if (taken ? taken.has(path) : existsSync(path)) continue
    taken?.add(path)
    return path
  }
}

function stemOf(address: string): string {
  const full = /^https?:/i.test(address) ? address : `https://${address}`
  const { host, pathname, search } = URL.canParse(full) ? new URL(full) : { host: address, pathname: '', search: '' }
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

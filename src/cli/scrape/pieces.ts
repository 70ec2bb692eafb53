/** Formats of a scraped page that can be printed or written, and names for their files. */
import { decodeUrlPart } from '../../core/net/urls.ts'
import type { ScrapeAnswer } from '../../core/shapes/scrape.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseUrl } from '../../core/net/parse-url.ts'

export type Piece =
  | { readonly format: string; readonly extension: string; readonly text: string; readonly value?: unknown }
  | { readonly format: string; readonly extension: string; readonly bytes: Buffer }

const texts: Record<string, string> = { markdown: 'md', html: 'html', rawHtml: 'raw.html', summary: 'summary.txt' }
const values: Record<string, string> = {
  links: 'links.json',
  images: 'images.json',
  json: 'json',
  branding: 'branding.json',
  actions: 'actions.json',
  changeTracking: 'changes.json',
  product: 'product.json',
  attributes: 'attributes.json',
}

/** Returns the formats in the order of the answer. */
export function piecesOf({ data }: ScrapeAnswer): Piece[] {
  return Object.entries(data ?? {}).flatMap(([format, value]): Piece[] => {
    if (format === 'screenshot') return [{ format, extension: 'png', bytes: Buffer.from(String(value), 'base64') }]
    const text = texts[format]
    if (text) return [{ format, extension: text, text: String(value) }]
    const json = values[format]
    return json ? [{ format, extension: json, text: `${JSON.stringify(value, null, 2)}\n`, value }] : []
  })
}

/** Returns a single text unchanged, several as one JSON value. */
export function textOf(pieces: readonly Piece[]): string {
  const found = pieces.filter((piece) => 'text' in piece)
  if (found.length <= 1) return found[0]?.text ?? ''
  return JSON.stringify(
    Object.fromEntries(found.map(({ format, value, text }) => [format, value === undefined ? text : value])),
    null,
    2,
  )
}

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
  const { host, pathname, search } = parseUrl(full) ?? { host: url, pathname: '', search: '' }
  const text = `${host}${pathname.replace(/\.x?html?$/i, '')}${search}`
  const stem = decodeUrlPart(text)
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
  return stem.slice(0, 120) || 'page'
}

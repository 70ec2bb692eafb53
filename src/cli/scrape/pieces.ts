/** Formats of a scraped page that can be printed or written. */
import type { ScrapeAnswer } from '../../core/shapes/scrape.ts'

export type Piece =
  | { readonly format: string; readonly extension: string; readonly text: string; readonly value?: unknown }
  | { readonly format: string; readonly extension: string; readonly bytes: Buffer }

const texts: Record<string, string> = { markdown: 'md', html: 'html', rawHtml: 'raw.html', summary: 'summary.txt' }
const values: Record<string, string> = { links: 'links.json', images: 'images.json', json: 'json', branding: 'branding.json', actions: 'actions.json' } // prettier-ignore

/** Returns the formats in the order of the answer. */
export function piecesOf({ data }: ScrapeAnswer): Piece[] {
  return Object.entries(data ?? {}).flatMap(([format, value]): Piece[] => {
    if (format === 'screenshot') return [{ format, extension: 'png', bytes: Buffer.from(value as string, 'base64') }]
    const text = texts[format]
    if (text) return [{ format, extension: text, text: value as string }]
    const json = values[format]
    return json ? [{ format, extension: json, text: `${JSON.stringify(value, null, 2)}\n`, value }] : []
  })
}

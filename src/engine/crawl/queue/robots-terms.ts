/** Terms of use in robots.txt: lines `Content-Signal` (https://contentsignals.org) and `License` (https://rslstandard.org). */
import { type ContentSignals, signalsIn } from '../../../core/shapes/read/terms.ts'
import type { ScrapeMetadata } from '../../../core/shapes/scrape.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'

export interface SiteTerms {
  readonly signals: ContentSignals
  /** URLs of licenses, which apply to all programs. */
  readonly licenses: readonly string[]
}

/** Error of a start page that is skipped for a content signal. */
export const signalRefusal = 'the content signals of the site refuse a use that respect_signals respects'

const maxLicenses = 20

/** Returns the terms for a program, by the groups of RFC 9309: its own ones, else those for all. */
export function termsIn(text: string, address: string, userAgent: string): SiteTerms {
  const signals = { own: [] as string[], all: [] as string[] }
  const licenses = new Set<string>()
  let hasOwn = false
  let agents: string[] = ['*']
  let isGroupOpen = false
  for (const line of text.split(/\r\n?|\n/)) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).trim().toLowerCase()
    const value = line
      .slice(colon + 1)
      .replace(/#.*/s, '')
      .trim()
    if (name === 'user-agent') {
      agents = isGroupOpen ? [...agents, value.toLowerCase()] : [value.toLowerCase()]
      hasOwn ||= agents.includes(userAgent)
      isGroupOpen = true
    } else if (name === 'license') {
      const url = parseUrl(value, address)
      if (url && /^https?:$/.test(url.protocol) && licenses.size < maxLicenses) licenses.add(url.href)
    } else if (name !== '' && name !== 'sitemap') {
      isGroupOpen = false
      if (name !== 'content-signal') continue
      if (agents.includes(userAgent)) signals.own.push(value)
      else if (agents.includes('*')) signals.all.push(value)
    }
  }
  return { signals: signalsIn(hasOwn ? signals.own : signals.all), licenses: [...licenses] }
}

/** Adds the terms of a site to the metadata of a page, whose own signals apply before those of the site. */
export function withTerms(metadata: ScrapeMetadata, { signals, licenses }: SiteTerms): ScrapeMetadata {
  const all = { ...signals, ...metadata.content_signals }
  const declared = [...new Set([...(metadata.licenses ?? []), ...licenses])]
  return {
    ...metadata,
    ...(Object.keys(all).length > 0 && { content_signals: all }),
    ...(declared.length > 0 && { licenses: declared }),
  }
}

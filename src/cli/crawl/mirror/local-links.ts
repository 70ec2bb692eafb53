/** Rewrites the links of a page to the files of other pages; links to pages without a file become absolute. */
import { posix } from 'node:path'
import type { crawlableUrl, identityOf } from '../../../engine/crawl/queue/url-identity.ts'
import { destinationsIn } from '../destinations.ts'

/** Functions of the crawl that normalise and identify URLs; loaded on demand. */
export interface Addressing {
  readonly crawlableUrl: typeof crawlableUrl
  readonly identityOf: typeof identityOf
}

const loosely = { scheme: true, www: true }
const strictly = { scheme: false, www: false }

/** Paths of pages by their URLs, including redirects. */
export class PagePaths {
  readonly #exact = new Map<string, string>()
  /** Ignores the scheme and `www.`. */
  readonly #loose = new Map<string, string>()
  readonly #addressing: Addressing

  constructor(addressing: Addressing) {
    this.#addressing = addressing
  }

  /** Adds a page; the first one at a URL wins. */
  add(href: string, path: string): void {
    const url = this.#addressing.crawlableUrl(href)
    if (!url) return
    const exact = this.#addressing.identityOf(url, strictly)
    if (!this.#exact.has(exact)) this.#exact.set(exact, path)
    const loose = this.#addressing.identityOf(url, loosely)
    if (!this.#loose.has(loose)) this.#loose.set(loose, path)
  }

  find(href: string): string | undefined {
    const url = this.#addressing.crawlableUrl(href)
    if (!url) return undefined
    const { identityOf } = this.#addressing
    return this.#exact.get(identityOf(url, strictly)) ?? this.#loose.get(identityOf(url, loosely))
  }
}

/** Rewrites the links of Markdown; `base` is the URL of the page, `from` its path without extension. */
export function withLocalLinks(markdown: string, base: string, from: string, places: PagePaths): string {
  let text = ''
  let done = 0
  for (const { start, end, url } of destinationsIn(markdown)) {
    const local = localLink(url, base, from, places, '.md')
    if (local === undefined) continue
    text += markdown.slice(done, start) + local
    done = end
  }
  return text + markdown.slice(done)
}

/**
 * Returns the new value of a link: a path to another file, a fragment of this one, or the absolute URL of a page
 * without a file; undefined if the link stays unchanged.
 */
export function localLink(
  link: string,
  base: string,
  from: string,
  places: PagePaths,
  ending: string,
): string | undefined {
  if (!URL.canParse(link, base)) return undefined
  const url = new URL(link, base)
  const to = places.find(url.href)
  if (to === undefined) return URL.canParse(link) ? undefined : encodeParentheses(url.href)
  const fragment = /^#[!/]/.test(url.hash) ? '' : url.hash
  if (to === from) return encodeParentheses(fragment) || encodePath(posix.basename(to) + ending)
  return encodePath(posix.relative(posix.dirname(from), to) + ending) + encodeParentheses(fragment)
}

/** Encodes a path for a link in Markdown or HTML. */
export const encodePath = (path: string): string => encodeParentheses(path.split('/').map(encodeURIComponent).join('/'))

const encodeParentheses = (text: string): string => text.replaceAll('(', '%28').replaceAll(')', '%29')

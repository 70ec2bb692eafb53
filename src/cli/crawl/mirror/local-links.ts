/** Rewrites the links of Markdown and HTML to the files of other pages; those to pages without a file become absolute. */
import { posix } from 'node:path'
import type { crawlableUrl, identityOf } from '../../../engine/crawl/queue/url-identity.ts'
import { destinationsIn } from '../destinations.ts'
import type { TokenizerCallbacks } from 'htmlparser2'
import { parseUrl } from '../../../core/net/parse-url.ts'

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

/** Returns the new value of a link, absolute for a page without a file; undefined if it stays unchanged. */
function localLink(link: string, base: string, from: string, places: PagePaths, ending: string): string | undefined {
  const url = parseUrl(link, base)
  if (!url) return undefined
  const to = places.find(url.href)
  if (to === undefined) return parseUrl(link) ? undefined : encodeParentheses(url.href)
  const fragment = /^#[!/]/.test(url.hash) ? '' : url.hash
  if (to === from) return encodeParentheses(fragment) || encodePath(posix.basename(to) + ending)
  return encodePath(posix.relative(posix.dirname(from), to) + ending) + encodeParentheses(fragment)
}

/** Encodes a path for a link in Markdown or HTML. */
export const encodePath = (path: string): string => encodeParentheses(path.split('/').map(encodeURIComponent).join('/'))

const encodeParentheses = (text: string): string => text.replaceAll('(', '%28').replaceAll(')', '%29')

/** Rewrites the `href` of each `<a>` whose page has a file; nothing else changes. */
export async function withLocalAnchors(html: string, base: string, from: string, places: PagePaths): Promise<string> {
  const { Tokenizer } = await import('htmlparser2')
  let text = ''
  let done = 0
  const finder = anchorFinder(html, (start, end) => {
    const local = localLink(unescaped(html.slice(start, end)), base, from, places, '.html')
    if (local === undefined) return
    text += html.slice(done, start) + escaped(local)
    done = end
  })
  const tokenizer = new Tokenizer({ xmlMode: false, decodeEntities: false }, finder)
  tokenizer.write(html)
  tokenizer.end()
  return text + html.slice(done)
}

/** Returns callbacks that call `onHref` with the position of each `href` value of `<a>` tags. */
function anchorFinder(html: string, onHref: (start: number, end: number) => void): TokenizerCallbacks {
  let isAnchor = false
  let isHref = false
  const ignore = () => {}
  return {
    onopentagname: (start, end) => void (isAnchor = html.slice(start, end).toLowerCase() === 'a'),
    onattribname: (start, end) => void (isHref = isAnchor && html.slice(start, end).toLowerCase() === 'href'),
    onattribdata: (start, end) => isHref && onHref(start, end),
    onattribend: ignore,
    onattribentity: ignore,
    oncdata: ignore,
    onclosetag: ignore,
    oncomment: ignore,
    ondeclaration: ignore,
    onend: ignore,
    onopentagend: ignore,
    onprocessinginstruction: ignore,
    onselfclosingtag: ignore,
    ontext: ignore,
    ontextentity: ignore,
  }
}

const unescaped = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

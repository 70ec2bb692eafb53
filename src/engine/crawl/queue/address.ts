/** Addresses as the crawl knows them: one form to fetch, and one to tell pages apart. */

/** What of an address says nothing, because the start page was reached by a redirect between the two. */
export interface Folding {
  /** http and https are the same. */
  readonly scheme: boolean
  /** With and without `www.` is the same. */
  readonly www: boolean
}

export const noFolding: Folding = { scheme: false, www: false }

/** Fragments that applications use as paths. */
const route = /^#(?:\/|!)/

/** The address to fetch: without a fragment that only leads into the page; undefined for what is not on the web. */
export function crawlable(href: string): URL | undefined {
  const url = parsed(href)
  if (!url) return undefined
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
  if (!route.test(url.hash)) url.hash = ''
  // A name and a password are no part of where a page is.
  if (url.username !== '' || url.password !== '') {
    url.username = ''
    url.password = ''
  }
  return url
}

/** Parses once: `URL.canParse` before it would take as long again, for every link of a site. */
function parsed(href: string): URL | undefined {
  try {
    return new URL(href)
  } catch {
    return undefined
  }
}

/** How the redirects of the start page fold the rest of the site. */
export function foldingOf(asked: URL, reached: URL): Folding {
  return {
    scheme: asked.protocol !== reached.protocol && bare(asked.hostname) === bare(reached.hostname),
    www: asked.hostname !== reached.hostname && bare(asked.hostname) === bare(reached.hostname),
  }
}

/** The same for all addresses of one page. */
export function identityOf(url: URL, folding: Folding): string {
  const scheme = folding.scheme ? 'https:' : url.protocol
  const path = evenEscapes(url.pathname)
    .replace(/\/index\.html$/, '/')
    .replace(/(?<=.)\/$/, '')
  return `${scheme}//${hostOf(url, folding)}${path}${url.search === '?' ? '' : url.search}${route.test(url.hash) ? url.hash : ''}`
}

/** Host with port; the same for hosts that the folding makes one. */
export const hostOf = ({ host }: URL, { www }: Folding): string => (www ? bare(host) : host)

const bare = (host: string): string => host.replace(/^www\./, '')

/** `%7e`, `%7E` and `~` are one character; what a server may read differently stays. */
function evenEscapes(path: string): string {
  if (!path.includes('%')) return path
  return path.replaceAll(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return /[\w.~-]/.test(character) ? character : escape.toUpperCase()
  })
}

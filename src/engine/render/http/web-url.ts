import { BaxError } from '../../../core/errors/errors.ts'
import { normaliseUrl } from '../../../core/net/urls.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { PageResponse } from './fetch.ts'
import { attribute, elementsOf, type ElementNode, type Tree } from '../../extract/tree.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'

/** Resolves the target of a redirect, with the fragment. @throws BaxError `url_blocked` or `connection_failed` */
export function redirectUrl(target: string, base: string): string {
  const url = parseUrl(target, base)
  if (!url) throw new BaxError('connection_failed', 'the page redirects to an invalid URL')
  assertHttp(url)
  if (url.hash === '') url.hash = new URL(base).hash
  return url.href
}

/** Normalizes a URL to scrape. @throws BaxError `invalid_request`, or `url_blocked` for schemes other than HTTP */
export function scrapeUrl(text: string): string {
  const href = normaliseUrl(text)
  assertHttp(new URL(href))
  return href
}

function assertHttp({ protocol }: URL): void {
  if (protocol !== 'http:' && protocol !== 'https:') throw new BaxError('url_blocked', 'URL blocked')
}

/** Returns the URL that `<meta http-equiv="refresh">` redirects to soon; undefined if none or the same page. */
export function metaRefresh(tree: Tree, pageUrl: string): string | undefined {
  for (const element of elementsOf(tree.root, outsideNoscript)) {
    if (element.tag !== 'meta' || attribute(element, 'http-equiv').toLowerCase() !== 'refresh') continue
    const url = refreshOf(attribute(element, 'content'), tree.baseUrl)?.url
    if (url !== undefined) return url === pageUrl ? undefined : url
  }
  return undefined
}

interface Refresh {
  readonly url: string
  readonly ms: number
}

/** Returns the redirect in the header `Refresh` of a response; undefined if none, to the same page or too late. */
export function headerRefresh({ url, headers }: Pick<PageResponse, 'url' | 'headers'>): Refresh | undefined {
  const refresh = refreshOf(headers.get('refresh') ?? '', url)
  return refresh?.url === url ? undefined : refresh
}

/** Reads a redirect such as `2; url=/next`; undefined if none, to another scheme or too late. */
function refreshOf(content: string, base: string): Refresh | undefined {
  const [, seconds, target] = /^\s*(\d+(?:\.\d*)?|\.\d+)?\s*[;,\s]\s*(?:url\s*=\s*)?(.+)$/is.exec(content) ?? []
  const secs = Number(seconds ?? 0)
  if (target === undefined || secs > limits.scrape.refreshSecs) return undefined
  const address = target.trim().replace(/^(["'])(.*?)\1?$/s, '$2')
  if (!/^https?:/i.test(parseUrl(address, base)?.protocol ?? '')) return undefined
  return { url: redirectUrl(address, base), ms: secs * 1000 }
}

/** Returns false for noscript elements, which browsers with scripts ignore. */
const outsideNoscript = ({ tag }: ElementNode): boolean => tag !== 'noscript'

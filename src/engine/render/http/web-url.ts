import { BaxError } from '../../../core/errors/errors.ts'
import { assertNotPath, normaliseUrl, schemeBlocked } from '../../../core/net/urls.ts'
import { limits } from '../../../core/limits/limits.ts'
import { attribute, elementsOf, type ElementNode, type Tree } from '../../extract/tree.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'
import type { ResponseHeaders } from '../../egress/response-headers.ts'

/** Resolves the target of a redirect, with the fragment. @throws BaxError `url_blocked` or `connection_failed` */
export function redirectUrl(target: string, base: string): string {
  const url = parseUrl(target, base)
  if (!url) throw new BaxError('connection_failed', 'the page redirects to an invalid URL')
  if (!isHttp(url)) throw new BaxError('url_blocked', 'URL blocked')
  if (url.hash === '') url.hash = new URL(base).hash
  return url.href
}

/** Returns the target of a redirect as written; undefined if there is none. Browsers ignore an empty one. */
export const locationOf = (headers: ResponseHeaders): string | undefined =>
  escaped(headers.get('location')?.trim() ?? '') || undefined

/** Keeps non-ASCII bytes of a header as they are, whatever their encoding. */
const escaped = (header: string): string =>
  header.replaceAll(/[\u0080-\u00ff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)

/** Normalizes a URL to scrape. @throws BaxError `invalid_request`, or `url_blocked` for schemes other than HTTP */
export function scrapeUrl(text: string): string {
  assertNotPath(text)
  const href = normaliseUrl(text)
  if (!isHttp(new URL(href))) throw schemeBlocked(href)
  return href
}

/** Returns whether two absolute URLs are the same, except for the fragment. */
export const isSameDocument = (url: string, other: string): boolean => url.split('#')[0] === other.split('#')[0]

export const isHttp = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:'

export interface Refresh {
  readonly url: string
  readonly secs: number
}

/** Returns where the header `Refresh` redirects to soon; undefined if nowhere or to the same page. */
export function headerRefresh(headers: ResponseHeaders, pageUrl: string): Refresh | undefined {
  const refresh = refreshIn(escaped(headers.get('refresh') ?? ''), pageUrl)
  return refresh && isSameDocument(refresh.url, pageUrl) ? undefined : refresh
}

/** Returns the URL that `<meta http-equiv="refresh">` redirects to soon; undefined if none or the same page. */
export function metaRefresh(tree: Tree, pageUrl: string, mostSecs?: number): string | undefined {
  for (const element of elementsOf(tree.root, outsideNoscript)) {
    if (element.tag !== 'meta' || attribute(element, 'http-equiv').toLowerCase() !== 'refresh') continue
    const refresh = refreshIn(attribute(element, 'content'), tree.baseUrl, mostSecs)
    if (refresh) return isSameDocument(refresh.url, pageUrl) ? undefined : refresh.url
  }
  return undefined
}

/** Returns whether a response never has content, so that browsers keep the page that they show. */
export const isEmptyStatus = (status: number): boolean => status === 204 || status === 205

/** Returns the warning about a page that continues with a file, such as a download. */
export const leadsToFile = (url: string): string => `the page leads to ${url}, which cannot be read as a page`

function refreshIn(text: string, baseUrl: string, mostSecs: number = limits.scrape.refreshSecs): Refresh | undefined {
  if (text.length > limits.input.urlChars) return undefined
  const [, seconds, target] = /^\s*(\d+(?:\.\d*)?|\.\d+)?\s*[;,\s]\s*(?:url\s*=\s*)?(.+)$/is.exec(text) ?? []
  const secs = Number(seconds ?? 0)
  if (target === undefined || secs > mostSecs) return undefined
  const address = target.trim().replace(/^(["'])(.*?)\1?$/s, '$2')
  if (!/^https?:/i.test(parseUrl(address, baseUrl)?.protocol ?? '')) return undefined
  return { url: redirectUrl(address, baseUrl), secs }
}

/** Returns false for noscript elements, which browsers with scripts ignore. */
const outsideNoscript = ({ tag }: ElementNode): boolean => tag !== 'noscript'

/** Resolves the URLs of links and images, and chooses among the sources of an image. */
import { type ElementNode, isElement } from './tree.ts'

/** Placeholder for the unknown host of a page. */
const unknown = 'http://unknown.invalid/'

/**
 * Returns the absolute URL, or undefined for an invalid one. Without an absolute base (an empty one, or the relative
 * `<base>` of a page with unknown URL) relative URLs stay relative.
 */
export function resolveUrl(address: string, baseUrl: string): string | undefined {
  if (resolved.baseUrl !== baseUrl || resolved.urls.size >= maxResolved) resolved = cacheFor(baseUrl)
  let url = resolved.urls.get(address)
  if (url === undefined && !resolved.urls.has(address)) {
    url = resolve(address.trim(), resolved)
    resolved.urls.set(address, url)
  }
  return url
}

/** Cache of the resolved URLs of one page, because most are needed several times. */
const cacheFor = (baseUrl: string) => ({
  baseUrl,
  isAbsolute: URL.canParse(baseUrl),
  urls: new Map<string, string | undefined>(),
})
let resolved = cacheFor('')
const maxResolved = 5000

/** Whether a text may be an absolute URL; parsers remove control characters anywhere in it. */
const mayBeAbsolute = (typed: string): boolean => /^[a-z][a-z\d+.-]*:|\p{Cc}/iu.test(typed)

function resolve(typed: string, { baseUrl, isAbsolute }: ReturnType<typeof cacheFor>): string | undefined {
  try {
    if (mayBeAbsolute(typed) && URL.canParse(typed)) return new URL(typed).href
    if (isAbsolute) return new URL(typed, baseUrl).href
    const { pathname, search, hash, host } = new URL(typed, new URL(baseUrl, unknown))
    if (baseUrl === '' || typed.startsWith('#')) return typed
    // A relative `<base>` gives the path.
    const path = `${baseUrl.startsWith('/') ? pathname : pathname.slice(1)}${search}${hash}`
    return unknown.includes(host) ? path : typed
  } catch {
    return undefined
  }
}

/** Returns the URL of a link; undefined for scripts, inline data and links to the top of the page. */
export function linkUrl(href: string | undefined, baseUrl: string): string | undefined {
  const typed = href?.trim()
  if (typed === undefined || typed === '' || typed === '#') return undefined
  const url = resolveUrl(typed, baseUrl)
  return url === undefined || /^(?:javascript|vbscript|data|blob):/i.test(url) ? undefined : url
}

const lazy = ['data-src', 'data-original', 'data-lazy-src', 'data-lazy', 'data-url', 'data-img-src', 'data-hi-res-src']
const lazySets = ['data-srcset', 'data-lazy-srcset', 'data-original-set']

/**
 * Returns the URL of the best source of an `<img>` (or of the `<picture>` around it): the largest one, lazy sources
 * before their placeholders; undefined for tracking pixels and inline data.
 */
export function imageUrl(image: ElementNode, baseUrl: string, picture?: ElementNode): string | undefined {
  const { attributes } = image
  if (isPixel(attributes)) return undefined
  const candidates = [
    ...lazySets.map((name) => largest(attributes[name])),
    largest(attributes['srcset']),
    ...lazy.map((name) => attributes[name]),
    attributes['src'],
  ]
  return firstUrl(candidates, baseUrl) ?? (picture && sourceUrl(picture, baseUrl))
}

/** Cache of the best source of a `<picture>`, which may contain thousands of sources and images. */
const sources = new WeakMap<ElementNode, { readonly baseUrl: string; readonly url: string | undefined }>()

function sourceUrl(picture: ElementNode, baseUrl: string): string | undefined {
  const known = sources.get(picture)
  if (known?.baseUrl === baseUrl) return known.url
  const offered = picture.children.map((child) =>
    isElement(child) && child.tag === 'source'
      ? (largest(child.attributes['srcset']) ?? largest(child.attributes['data-srcset']))
      : undefined,
  )
  const url = firstUrl(offered, baseUrl)
  sources.set(picture, { baseUrl, url })
  return url
}

function firstUrl(candidates: readonly (string | undefined)[], baseUrl: string): string | undefined {
  for (const candidate of candidates) {
    if (!candidate || /^\s*(?:data|blob|javascript|about):/i.test(candidate)) continue
    const url = resolveUrl(candidate, baseUrl)
    if (url !== undefined) return url
  }
  return undefined
}

const tiny = (value: string | undefined): boolean => value !== undefined && /^\s*[01](?:px)?\s*$/.test(value)

function isPixel({ width, height, style = '' }: Readonly<Record<string, string>>): boolean {
  if (tiny(width) && (tiny(height) || height === undefined)) return true
  if (tiny(height) && width === undefined) return true
  return /(?:^|;)\s*width:\s*[01]px/i.test(style) && /(?:^|;)\s*height:\s*[01]px/i.test(style)
}

/** A URL of a `srcset`, and its descriptor unless the URL ends with a comma. */
const sized = /([^\s,]\S*)(?:(?<=,)|([^,]*))/g

/** Returns the candidate of a `srcset` with the greatest width or density, parsed according to the HTML standard. */
function largest(srcset: string | undefined): string | undefined {
  if (!srcset) return undefined
  let best: string | undefined
  let most = -1
  for (const [, address, descriptor = ''] of srcset.matchAll(sized)) {
    const size = Number.parseFloat(descriptor) || 1
    if (size <= most || /^data:/i.test(address!)) continue
    most = size
    best = address!.replace(/,{1,9}$/, '')
  }
  return best
}

/** Resolves the URLs of links and images, and chooses among the sources of an image. */
import { parseUrl } from '../../core/net/parse-url.ts'
import { type ElementNode, isElement, wordSet } from './tree.ts'

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
function cacheFor(baseUrl: string) {
  const base = parseUrl(baseUrl)
  const isHttp = base !== undefined && /^https?:$/.test(base.protocol) && base.username === '' && base.password === ''
  return {
    baseUrl,
    isAbsolute: base !== undefined,
    /** Of HTTP URLs without credentials: the origin, and the URL without its fragment. */
    origin: isHttp ? base.origin : undefined,
    page: isHttp ? base.href.replace(/#.*$/, '') : undefined,
    urls: new Map<string, string | undefined>(),
  }
}
let resolved = cacheFor('')
const maxResolved = 5000

/** Whether a text may be an absolute URL; parsers remove control characters anywhere in it. */
const mayBeAbsolute = (typed: string): boolean => /^[a-zA-Z][a-zA-Z\d+.-]*:|\p{Cc}/u.test(typed)

/** A path that parsers do not change: without dots at the start of a segment, and without characters to encode. */
const isPlainPath = (typed: string): boolean =>
  plainPath.test(typed) && !typed.startsWith('//') && !typed.includes('/.')
const plainPath = /^\/[\w./-]*$/
const isFragment = /^#[\w-]+$/

function resolve(
  typed: string,
  { baseUrl, isAbsolute, origin, page }: ReturnType<typeof cacheFor>,
): string | undefined {
  try {
    if (page !== undefined && isFragment.test(typed)) return page + typed
    if (origin !== undefined && isPlainPath(typed)) return origin + typed
    if (origin !== undefined && typed.startsWith(origin) && isPlainPath(typed.slice(origin.length))) return typed
    // `http:/path` is relative to pages with that scheme.
    if (isAbsolute) return new URL(typed, baseUrl).href
    const absolute = mayBeAbsolute(typed) ? parseUrl(typed) : undefined
    if (absolute) return absolute.href
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

/** Attributes of images: sets of sources, then single ones, of which lazy ones are for `src`, which may be small. */
const sourceSets = ['data-srcset', 'data-lazy-srcset', 'data-original-set', 'srcset']
const singleSources = ['data-src', 'data-original', 'data-lazy-src', 'data-lazy', 'data-img-src', 'data-hi-res-src']

/**
 * Returns the URL of the best source of an `<img>` (or of the `<picture>` around it): the largest one, lazy sources
 * before their placeholders; undefined for tracking pixels and inline data.
 */
export function imageUrl(image: ElementNode, baseUrl: string, picture?: ElementNode): string | undefined {
  const { attributes } = image
  if (isPixel(attributes)) return undefined
  for (const name of sourceSets) {
    const url = sourceOf(largest(attributes[name]), baseUrl)
    if (url !== undefined) return url
  }
  for (const name of singleSources) {
    const value = typedSource(attributes[name], attributes)
    const url = /[/.]/.test(value) ? sourceOf(value, baseUrl) : undefined
    if (url !== undefined) return url
  }
  const { src } = attributes
  const isReal = src !== undefined && src.trim() !== '' && !inline.test(src) && !isPlaceholder(src)
  const lazy = isReal ? undefined : lazySource(attributes, baseUrl)
  return lazy ?? sourceOf(src, baseUrl) ?? (picture && sourceUrl(picture, baseUrl))
}

/** Returns the URL in a lazy source: its first one of several densities, and the largest of a template with widths. */
function typedSource(value: string | undefined, attributes: Readonly<Record<string, string>>): string {
  const [typed = ''] = (value ?? '').trim().split(/\|(?=https?:|\/)/, 1)
  if (!typed.includes('{')) return typed
  const widths = (attributes['data-widths'] ?? '').match(/\d{1,5}/g)?.map(Number) ?? []
  return widths.length > 0 && /^[^{}]*\{width\}[^{}]*$/.test(typed)
    ? typed.replace('{width}', `${Math.max(...widths)}`)
    : ''
}

/** Whether a URL is that of a file that is shown until the image is loaded, by its name. */
function isPlaceholder(url: string): boolean {
  const [path = ''] = url.split(/[?#]/, 1)
  const name = path.slice(path.lastIndexOf('/') + 1)
  return name.length < maxName && placeholder.test(name)
}

const placeholder =
  /(?:^|[_-])(?:placeholder|blank|spacer|loading|loader|lazy(?:load)?|transparent|pixel|empty|1x1|grey|gray|clear|dummy)(?:[._-].*)?\.(?:gif|png|svg|jpe?g|webp)$/i
/** Maximum length of such a name, because the expression takes quadratic time. */
const maxName = 200

const plainAttributes = wordSet(
  'src srcset alt title class id style sizes width height href longdesc usemap cite loading decoding data-caption',
)
const imageFile = /\.(?:jpe?g|jfif|png|gif|webp|avif|svg|bmp|jxl|heic)(?:[?#]|$)/i
const imageName = /src|im(?:g|age)|original|lazy|url|picture|photo/i
const otherImage = /placeholder|fallback|error|thumb|blur|preview|avatar|icon|flag|hover|logo/i
const typedUrl = /^(?:https?:\/)?\.{0,2}\/[^\s{}"'<>]+$|^[\w%./-]+\.\w{3,4}(?:[?#][^\s{}"'<>]*)?$/i
const typedSet = /^\S+\s+\d+(?:\.\d+)?[wx](?:\s*,|\s*$)/

/**
 * Returns the URL in an attribute of a script that loads images when they come into view: such attributes have any name,
 * and the URL of an image as value.
 */
function lazySource(attributes: Readonly<Record<string, string>>, baseUrl: string): string | undefined {
  let other: string | undefined
  for (const [name, value] of Object.entries(attributes)) {
    if (plainAttributes.has(name) || name.startsWith('on') || name.startsWith('aria-')) continue
    const typed = value.trim()
    const isSet = typedSet.test(typed) || (name.endsWith('set') && typed !== '')
    const single = isSet ? largest(typed) : typed
    if (!single || !typedUrl.test(single) || !(isSet || imageFile.test(single) || imageName.test(name))) continue
    const url = sourceOf(single, baseUrl)
    if (url === undefined || !/^https?:|^[^:]*$/.test(url)) continue
    if (!otherImage.test(name) && !isPlaceholder(single)) return url
    other ??= url
  }
  return other
}

/** Cache of the best source of a `<picture>`, which may contain thousands of sources and images. */
const sources = new WeakMap<ElementNode, { readonly baseUrl: string; readonly url: string | undefined }>()

function sourceUrl(picture: ElementNode, baseUrl: string): string | undefined {
  const known = sources.get(picture)
  if (known?.baseUrl === baseUrl) return known.url
  const offered = picture.children.map((child) =>
    isElement(child) && child.tag === 'source'
      ? (largest(child.attributes['srcset']) ??
        largest(child.attributes['data-srcset']) ??
        lazySource(child.attributes, baseUrl))
      : undefined,
  )
  const url = firstUrl(offered, baseUrl)
  sources.set(picture, { baseUrl, url })
  return url
}

function firstUrl(candidates: readonly (string | undefined)[], baseUrl: string): string | undefined {
  for (const candidate of candidates) {
    const url = sourceOf(candidate, baseUrl)
    if (url !== undefined) return url
  }
  return undefined
}

const inline = /^\s*(?:data|blob|javascript|about):/i

function sourceOf(candidate: string | undefined, baseUrl: string): string | undefined {
  if (!candidate || inline.test(candidate)) return undefined
  return resolveUrl(candidate, baseUrl)
}

const tiny = (value: string | undefined): boolean => value !== undefined && /^\s*[01](?:px)?\s*$/.test(value)

const isAuto = (value: string | undefined): boolean => value === undefined || value.trim().toLowerCase() === 'auto'

/** Sizes of images that do not grow with the page, but are a pixel at any width. */
const pixelSizes = /(?:^|[\s,])[01]px\s*$/i

/** Whether an image is a tracking pixel. Images that grow with the page have sources for several sizes, or a style. */
function isPixel({ width, height, style, sizes, srcset }: Readonly<Record<string, string>>): boolean {
  if (srcset !== undefined && sourceOf(largest(srcset), unknown) !== undefined) return false
  if (sizes !== undefined && !pixelSizes.test(sizes)) return false
  const styled = style === undefined ? undefined : sizesOf(style)
  const [wide, high] = [styled?.get('width') ?? width, styled?.get('height') ?? height]
  if ([styled?.get('min-width'), styled?.get('min-height')].some((size) => size !== undefined && !tiny(size)))
    return false
  return tiny(wide) ? tiny(high) || isAuto(high) : tiny(high) && isAuto(wide)
}

/** Returns the sizes that a style sets. */
function sizesOf(style: string): ReadonlyMap<string, string> {
  const sizes = new Map<string, string>()
  for (const [, name, value] of style.matchAll(/(?:^|;)\s*((?:min-)?(?:width|height))\s*:\s*([^;!]*)/gi))
    sizes.set(name!.toLowerCase(), value!)
  return sizes
}

/** A URL of a `srcset`, and its descriptor unless the URL ends with a comma. */
const candidates = /([^\s,]\S*)(?:(?<=,)|([^,]*))/g

/** Returns the candidate of a `srcset` with the greatest width or density, parsed according to the HTML standard. */
function largest(srcset: string | undefined): string | undefined {
  if (!srcset) return undefined
  let best: string | undefined
  let most = -1
  for (const [, address, descriptor = ''] of srcset.matchAll(candidates)) {
    const size = Number.parseFloat(descriptor) || 1
    if (size <= most || /^data:/i.test(address!)) continue
    most = size
    best = address!.replace(/,{1,9}$/, '')
  }
  return best
}

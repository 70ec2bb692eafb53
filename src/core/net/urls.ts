import { BaxError } from '../errors/errors.ts'
import { parseUrl } from './parse-url.ts'

const openable = new Set(['http:', 'https:', 'data:', 'blob:'])
/** Other `about:` URLs (`about:version`) are pages of the browser itself. */
const openableAbout = /^about:(?:blank|srcdoc)(?=[?#]|$)/i
/** Loopback hosts and private addresses, which rarely have a certificate. */
const local =
  /^(?:localhost|.+\.localhost|(?:127|10|192\.168|172\.(?:1[6-9]|2\d|3[01])|169\.254)(?:\.\d{1,3}){2,3}|0\.0\.0\.0|\[(?:::1|f[cd][\da-f]{2}:[\da-f:]*|fe[89ab][\da-f]:[\da-f:]*)\])(?::\d+)?(?=[/?#]|$)/i
const scheme = /^[a-z][a-z0-9+.-]*:/i

/**
 * Returns the absolute form of a URL as people type it: `https://` is added, `http://` for loopback hosts and
 * private addresses.
 * @throws BaxError `invalid_request` when it is not a URL.
 */
export function normaliseUrl(text: string, field = 'url'): string {
  const url = typedUrl(text)
  if (url) return url.href
  const message = `is not a URL: ${JSON.stringify(text)}`
  throw new BaxError('invalid_request', `${field} ${message}`, { details: [{ path: field, message }] })
}

/** Returns whether `normaliseUrl` accepts the text, or `assertNotPath` rejects it with a hint. */
export const isUrl = (text: string): boolean => typedUrl(text) !== undefined || isPath(text.trim())

/** Returns whether a URL, as people type it, names a loopback host or a private address. */
export const isLocalUrl = (text: string): boolean => local.test(text.trim().replace(/^[a-z]+:\/\/(?:[^/?#]*@)?/i, ''))

/** `example.com`, `localhost`, `[::1]`. Parsers of URLs also accept hosts such as `ht!tp` and `a..b`, which have no address. */
const hostName = /^(?:(?:[\w-]+\.)*[\w-]+\.?|\[[\da-f:.]+\])$/

/** Returns the URL that was typed; undefined for text in which browsers find one only by guessing, like `http//x`. */
function typedUrl(text: string): URL | undefined {
  const url = parseUrl(withScheme(text))
  if (!url || !/^https?:$/.test(url.protocol)) return url
  const isGuessed =
    /^\s*https?:(?!\/\/)/i.test(text) || (/^https?$/.test(url.hostname) && url.pathname.startsWith('//'))
  return hostName.test(url.hostname) && !isGuessed ? url : undefined
}

function withScheme(text: string): string {
  const typed = text.trim()
  // `localhost:3000` and `example.com:80` look like URLs with a scheme, but are not.
  const hasScheme = scheme.test(typed) && !/^[^/?#]*:\d+(?=[/?#]|$)/.test(typed)
  return hasScheme ? typed : `${local.test(typed) ? 'http' : 'https'}://${typed}`
}

/** `./page.html`, `/tmp/page.html`, `~/page.html`, `C:\page.html`. */
const pathStart = /^(?:\.{1,2}[/\\]|\/(?!\/)|~\/|[a-z]:[/\\](?!\/))/i
/** A name such as `page.html`: no top-level domain is like these extensions. */
const fileName = /^[^/\\:?#]+\.(?:x?html?|pdf|svg|xml|json|csv|txt|ya?ml)$/i

const serveHint =
  'to open a local file, serve its folder, such as with "python3 -m http.server 8000", and open http://localhost:8000/; to read one, use "bax extract"'

const isPath = (typed: string): boolean => pathStart.test(typed) || fileName.test(typed)

/** @throws BaxError `invalid_request` for the path of a file, which is not a URL */
export function assertNotPath(text: string, field = 'url'): void {
  const typed = text.trim()
  if (!isPath(typed)) return
  const fault = `is the path of a file, not a URL: ${JSON.stringify(text)}`
  throw new BaxError('invalid_request', `${field} ${fault}`, {
    hint: serveHint,
    details: [{ path: field, message: fault }],
  })
}

/** Builds the error of a URL with a scheme that is not allowed. */
export const schemeBlocked = (href: string): BaxError =>
  new BaxError('url_blocked', 'URL blocked', { ...(/^file:/i.test(href) && { hint: serveHint }) })

/**
 * Normalizes a URL that a browser is about to open.
 * @throws BaxError `invalid_request` for a path, `url_blocked` for `file:`, `chrome:` and every other scheme outside the web.
 */
export function openableUrl(text: string, field = 'url'): string {
  assertNotPath(text, field)
  const href = normaliseUrl(text, field)
  if (!isOpenable(href)) throw schemeBlocked(href)
  return href
}

/** Returns whether a browser may open an absolute URL, judged by its scheme. */
export const isOpenable = (href: string): boolean => openable.has(new URL(href).protocol) || openableAbout.test(href)

/** Returns whether an absolute URL carries its own content (`data:` or `blob:`), which may be code. */
export const isCodeUrl = (href: string): boolean => /^(?:data|blob):/i.test(href)

/** Decodes a part of a URL; returns it unchanged when it is not valid percent-encoded UTF-8. */
export function decodeUrlPart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

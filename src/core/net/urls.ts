import { BaxError } from '../errors/errors.ts'

const openable = new Set(['http:', 'https:', 'data:', 'blob:'])
/** The others (`about:version`) are pages of the browser itself. */
const openableAbout = /^about:(?:blank|srcdoc)(?=[?#]|$)/i
const loopback = /^(localhost|127(?:\.\d+){3}|\[::1\]|.+\.localhost)(?::\d+)?(?=[/?#]|$)/i
const scheme = /^[a-z][a-z0-9+.-]*:/i

/**
 * The absolute form of an address as people type it: without a scheme it gets `https://`, loopback hosts `http://`.
 * @throws BaxError `invalid_request` when it is no address.
 */
export function normaliseUrl(text: string, field = 'url'): string {
  const full = withScheme(text)
  if (!URL.canParse(full)) {
    const message = `${field} is not a URL: ${JSON.stringify(text)}`
    throw new BaxError('invalid_request', message, { details: [{ path: field, message: 'not a URL' }] })
  }
  return new URL(full).href
}

/** Whether `normaliseUrl` can read it. */
export const isUrl = (text: string): boolean => URL.canParse(withScheme(text))

function withScheme(text: string): string {
  const typed = text.trim()
  // `localhost:3000` and `example.com:80` look like a scheme and are not one.
  const hasScheme = scheme.test(typed) && !/^[^/?#]*:\d+(?=[/?#]|$)/.test(typed)
  return hasScheme ? typed : `${loopback.test(typed) ? 'http' : 'https'}://${typed}`
}

/**
 * Like `normaliseUrl`, for an address that a browser is about to open.
 * @throws BaxError `url_blocked` for `file:`, `chrome:` and every other scheme that reaches beyond the web.
 */
export function openableUrl(text: string, field = 'url'): string {
  const href = normaliseUrl(text, field)
  if (!isOpenable(href)) throw new BaxError('url_blocked', 'URL blocked')
  return href
}

/** Whether a browser may open an absolute address, as far as its scheme tells. */
export const isOpenable = (href: string): boolean => openable.has(new URL(href).protocol) || openableAbout.test(href)

/** A part of an address as text; what is no percent-encoding of UTF-8 stays as it is. */
export function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

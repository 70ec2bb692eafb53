import { BaxError } from '../../../core/errors/errors.ts'
import { normaliseUrl } from '../../../core/net/urls.ts'

/**
 * Resolves the target of a redirect; keeps the fragment, as browsers do.
 * @throws BaxError `url_blocked` for schemes other than http and https, `connection_failed` for an invalid URL.
 */
export function redirectUrl(target: string, base: string): string {
  if (!URL.canParse(target, base)) throw new BaxError('connection_failed', 'the page redirects to an invalid URL')
  const url = new URL(target, base)
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

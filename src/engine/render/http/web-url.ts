import { BaxError } from '../../../core/errors/errors.ts'
import { normaliseUrl } from '../../../core/net/urls.ts'

/**
 * The address that a page sends us on to, with the fragment kept over redirects as browsers do.
 * @throws BaxError `url_blocked` for anything but http and https, `connection_failed` for what is no address.
 */
export function webUrl(target: string, base: string): string {
  if (!URL.canParse(target, base)) {
    throw new BaxError('connection_failed', 'the page redirects to something that is not an address')
  }
  const url = new URL(target, base)
  onlyWeb(url)
  if (url.hash === '') url.hash = new URL(base).hash
  return url.href
}

/**
 * The absolute form of an address to scrape.
 * @throws BaxError `invalid_request` when it is no address, `url_blocked` for schemes other than http and https.
 */
export function scrapeUrl(text: string): string {
  const href = normaliseUrl(text)
  onlyWeb(new URL(href))
  return href
}

function onlyWeb({ protocol }: URL): void {
  if (protocol !== 'http:' && protocol !== 'https:') throw new BaxError('url_blocked', 'URL blocked')
}

/** Checks the URLs of a list. */
import { asBaxError, BaxError } from '../core/errors/errors.ts'
import { normaliseUrl } from '../core/net/urls.ts'

/**
 * Returns the valid URLs of a list, and with `ignore` also the others.
 * @throws BaxError `invalid_request` that names the first invalid URL, or for a list without valid ones
 */
export function validUrls(listed: readonly string[], ignore: boolean): { urls: string[]; invalid: string[] } {
  const urls: string[] = []
  const invalid: string[] = []
  for (const [at, url] of listed.entries()) {
    const problem = problemOf(url, `urls[${at}]`)
    if (!problem) urls.push(url)
    else if (ignore) invalid.push(url)
    else throw problem
  }
  if (urls.length > 0) return { urls, invalid }
  throw new BaxError('invalid_request', 'urls has no valid URL', {
    details: [{ path: 'urls', message: 'has no valid URL' }],
  })
}

function problemOf(url: string, path: string): BaxError | undefined {
  try {
    const { protocol } = new URL(normaliseUrl(url, path))
    if (protocol === 'http:' || protocol === 'https:') return undefined
    const message = `has the scheme ${protocol}`
    return new BaxError('invalid_request', `${path} ${message}: ${JSON.stringify(url)}`, {
      details: [{ path, message }],
    })
  } catch (error) {
    return asBaxError(error)
  }
}

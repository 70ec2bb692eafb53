/** Takes the tracking of search engines off the addresses of their results. */

/** Wrappers inside wrappers; more of them than this are nobody's result. */
const deepest = 3

/** The address itself as an absolute one; undefined for what is no page of the web, advertisements among it. */
export function unwrapped(address: string, base: string): string | undefined {
  let current = address
  for (let depth = 0; depth < deepest && URL.canParse(current, base); depth++) {
    const url = new URL(current, base)
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
    if (isAdvertisement(url)) return undefined
    const inner = innerAddress(url)
    if (inner === undefined || !isWebAddress(inner)) return url.href
    current = inner
  }
  return undefined
}

const isWebAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

const belongsTo = ({ hostname }: URL, domain: RegExp): boolean => domain.test(hostname)

const duckduckgo = /(?:^|\.)duckduckgo\.com$/
const bing = /(?:^|\.)bing\.com$/
const google = /(?:^|\.)google\.(?:com|[a-z]{2,3})(?:\.[a-z]{2})?$/

/** Clicks that somebody pays for. */
const isAdvertisement = (url: URL): boolean =>
  (belongsTo(url, duckduckgo) && url.pathname === '/y.js') ||
  (belongsTo(url, bing) && /^\/aclic?k/.test(url.pathname)) ||
  (belongsTo(url, google) && url.pathname === '/aclk')

function innerAddress(url: URL): string | undefined {
  const { pathname, searchParams } = url
  if (belongsTo(url, duckduckgo) && /^\/l\/?$/.test(pathname)) return searchParams.get('uddg') ?? undefined
  if (belongsTo(url, bing) && pathname === '/ck/a') return fromBing(searchParams.get('u'))
  if (belongsTo(url, google) && pathname === '/url')
    return searchParams.get('q') ?? searchParams.get('url') ?? undefined
  return undefined
}

/** `a1` and the address in base64url. */
function fromBing(text: string | null): string | undefined {
  return text?.startsWith('a1') ? Buffer.from(text.slice(2), 'base64url').toString('utf8') : undefined
}

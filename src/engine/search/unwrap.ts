/** Unwraps the tracking URLs of search engines. */

/** Maximum number of nested wrappers. */
const maxDepth = 3

/** Returns the absolute target URL; undefined for advertisements and URLs that are not HTTP. */
export function unwrapped(address: string, base: string): string | undefined {
  let current = address
  for (let depth = 0; depth < maxDepth && URL.canParse(current, base); depth++) {
    const url = new URL(current, base)
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
    if (isAdvertisement(url)) return undefined
    const inner = innerUrl(url)
    if (inner === undefined || !isHttpUrl(inner)) return url.href
    current = inner
  }
  return undefined
}

const isHttpUrl = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

const duckduckgo = /(?:^|\.)duckduckgo\.com$/
const bing = /(?:^|\.)bing\.com$/
const google = /(?:^|\.)google\.(?:com|[a-z]{2,3})(?:\.[a-z]{2})?$/

/** Returns whether a URL is a paid click. */
const isAdvertisement = ({ hostname, pathname }: URL): boolean =>
  (duckduckgo.test(hostname) && pathname === '/y.js') ||
  (bing.test(hostname) && /^\/aclic?k/.test(pathname)) ||
  (google.test(hostname) && pathname === '/aclk')

function innerUrl({ hostname, pathname, searchParams }: URL): string | undefined {
  if (duckduckgo.test(hostname) && /^\/l\/?$/.test(pathname)) return searchParams.get('uddg') ?? undefined
  if (bing.test(hostname) && pathname === '/ck/a') {
    // `a1` followed by the URL in base64url.
    const text = searchParams.get('u')
    return text?.startsWith('a1') ? Buffer.from(text.slice(2), 'base64url').toString('utf8') : undefined
  }
  if (google.test(hostname) && pathname === '/url') return searchParams.get('q') ?? searchParams.get('url') ?? undefined
  return undefined
}

/** Addresses that a rendered page does not load. */

interface Entity {
  readonly categories: readonly string[]
  readonly domains: readonly string[]
}

interface List {
  readonly entities: readonly Entity[]
}

/** What a page that nobody looks at needs least. */
const heavy = ['woff', 'woff2', 'ttf', 'otf', 'mp4', 'webm', 'm4v', 'mp3', 'ogg', 'm3u8', 'ts', 'mpd'].flatMap((ending) => [`*.${ending}`, `*.${ending}?*`]) // prettier-ignore

let ads: readonly string[] | undefined

/** Patterns for `Network.setBlockedURLs`. */
export async function blockedPatterns(wish: { ads: boolean; heavy: boolean }): Promise<string[]> {
  if (wish.ads) ads ??= await adPatterns()
  return [...(wish.ads ? ads! : []), ...(wish.heavy ? heavy : [])]
}

/** Advertisers as third-party-web, the list of HTTP Archive and Lighthouse, knows them. */
async function adPatterns(): Promise<string[]> {
  const { default: list } = (await import('third-party-web/nostats-subset.js')) as unknown as { default: List }
  return list.entities
    .filter(({ categories }) => categories.includes('ad'))
    .flatMap(({ domains }) => domains)
    .flatMap((domain) => {
      const host = domain.replace(/^\*\./, '')
      return domain.startsWith('*.') ? [`*://${host}/*`, `*://*.${host}/*`] : [`*://${host}/*`]
    })
}

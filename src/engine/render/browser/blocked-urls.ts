/** URL patterns that rendered pages do not load: advertisers, fonts and media. */

interface List {
  readonly entities: readonly { readonly categories: readonly string[]; readonly domains: readonly string[] }[]
}

/** Fonts and media, which do not affect the text of a page. */
const heavy = ['woff', 'woff2', 'ttf', 'otf', 'mp4', 'webm', 'm4v', 'mp3', 'ogg', 'm3u8', 'ts', 'mpd'].flatMap(
  (extension) => [`*.${extension}`, `*.${extension}?*`],
)

let ads: readonly string[] | undefined

/** Returns patterns for `Network.setBlockedURLs`. */
export async function blockedPatterns(options: { ads: boolean; heavy: boolean }): Promise<string[]> {
  if (options.ads) ads ??= await adPatterns()
  return [...(options.ads ? ads! : []), ...(options.heavy ? heavy : [])]
}

/** Returns patterns for the advertisers in third-party-web, the list of HTTP Archive and Lighthouse. */
async function adPatterns(): Promise<string[]> {
  const { default: list } = (await import('third-party-web/nostats-subset.js')) as { default: List }
  return list.entities
    .filter(({ categories }) => categories.includes('ad'))
    .flatMap(({ domains }) => domains)
    .flatMap((domain) => {
      const host = domain.replace(/^\*\./, '')
      return domain.startsWith('*.') ? [`*://${host}/*`, `*://*.${host}/*`] : [`*://${host}/*`]
    })
}

/** Leads the links of a page to the files of the other pages; what was not crawled keeps its whole address. */
import { posix } from 'node:path'
import type { crawlable, identityOf } from '../../../engine/crawl/queue/address.ts'
import { destinationsIn } from '../destinations.ts'

/** How the crawl tells pages apart; loaded when there is something to write. */
export interface Addressing {
  readonly crawlable: typeof crawlable
  readonly identityOf: typeof identityOf
}

const loosely = { scheme: true, www: true }
const strictly = { scheme: false, www: false }

/** The paths of pages by all the addresses at which they were found. */
export class Places {
  readonly #exact = new Map<string, string>()
  /** For links that name the other scheme, or leave `www.` out. */
  readonly #loose = new Map<string, string>()
  readonly #addressing: Addressing

  constructor(addressing: Addressing) {
    this.#addressing = addressing
  }

  /** The first page at an address has it. */
  add(address: string, path: string): void {
    const url = this.#addressing.crawlable(address)
    if (!url) return
    const exact = this.#addressing.identityOf(url, strictly)
    if (!this.#exact.has(exact)) this.#exact.set(exact, path)
    const loose = this.#addressing.identityOf(url, loosely)
    if (!this.#loose.has(loose)) this.#loose.set(loose, path)
  }

  find(address: string): string | undefined {
    const url = this.#addressing.crawlable(address)
    if (!url) return undefined
    const { identityOf } = this.#addressing
    return this.#exact.get(identityOf(url, strictly)) ?? this.#loose.get(identityOf(url, loosely))
  }
}

/** The Markdown with its links led to files; `base` is the page's address, `from` its path without ending. */
export function withLocalLinks(markdown: string, base: string, from: string, places: Places): string {
  let text = ''
  let done = 0
  for (const { start, end, address } of destinationsIn(markdown)) {
    const local = localAddress(address, base, from, places, '.md')
    if (local === undefined) continue
    text += markdown.slice(done, start) + local
    done = end
  }
  return text + markdown.slice(done)
}

/**
 * What a link says in the file: the way to another file, the place in this one, or the whole address of a page that
 * is not there; undefined where it stays as it is.
 */
export function localAddress(
  address: string,
  base: string,
  from: string,
  places: Places,
  ending: string,
): string | undefined {
  if (!URL.canParse(address, base)) return undefined
  const url = new URL(address, base)
  const to = places.find(url.href)
  if (to === undefined) return URL.canParse(address) ? undefined : written(url.href)
  const place = /^#[!/]/.test(url.hash) ? '' : url.hash
  if (to === from) return written(place) || wayTo(posix.basename(to) + ending)
  return wayTo(posix.relative(posix.dirname(from), to) + ending) + written(place)
}

/** A path as a link writes it. */
export const wayTo = (path: string): string => path.split('/').map(encodeURIComponent).map(written).join('/')

const written = (text: string): string => text.replaceAll('(', '%28').replaceAll(')', '%29')

/** The proxies of a read: pages go through them in turn, and those that fail are left out. */
import type http from 'node:http'
import { BaxError, messageOf } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { parseProxyUrl } from '../../../core/net/proxy-url.ts'
import type { Origin } from '../../../core/process/turns.ts'
import type { ReadProxy } from '../../../core/shapes/read/identity.ts'
import { evictOldest } from '../../evict-oldest.ts'
import type { Upstream } from '../../egress/chain.ts'
import type { Egress, ProxyTurn } from '../../egress/egress.ts'
import { proxyFailed, proxyHint } from '../../egress/proxy-failure.ts'

const { namedProxies, proxyLists, proxyRestMs } = limits.identity

/** State of a list, shared by all reads of the same key that use it. */
interface SharedList {
  /** Index of the proxy of the next page. */
  next: number
  /** Times until which proxies are tried last, as `performance.now()`, by index. */
  readonly resting: Map<number, number>
  /** Open connections; they are discarded with the list. */
  readonly agents: Map<string, http.Agent>
}

/** Lists that were used last, by the key of the caller and their content. */
export class ProxyLists {
  readonly #lists = new Map<string, SharedList>()

  /** Returns the proxies of a request; lists of different keys share nothing. */
  open(given: ReadProxy | readonly ReadProxy[], from: Origin): ReadProxies {
    const proxies = [given].flat()
    const key = JSON.stringify([from, proxies])
    const list = this.#lists.get(key) ?? { next: 0, resting: new Map(), agents: new Map() }
    this.#lists.delete(key)
    this.#lists.set(key, list)
    evictOldest(this.#lists, proxyLists)
    return new ReadProxies(proxies, list)
  }
}

export class ReadProxies {
  readonly #proxies: readonly ReadProxy[]
  readonly #list: SharedList
  /** Index of the proxy of a page, which is the same for its fetch and for the browser. */
  readonly #pages = new Map<string, number>()
  #failures: string[] = []

  constructor(proxies: readonly ReadProxy[], list: SharedList) {
    this.#proxies = proxies
    this.#list = list
  }

  /** Returns the proxy of a page. */
  turn(url: string, egress: Egress, from: Origin): ProxyTurn {
    return new PageProxy(this, url, (proxy) => this.#open(proxy, egress, from))
  }

  /** Returns the proxies to try for a page, the first one first. */
  orderFor(url: string): readonly (readonly [index: number, ReadProxy])[] {
    const { length } = this.#proxies
    const known = this.#pages.get(url)
    const first = known ?? this.#list.next
    if (known === undefined) this.#list.next = (first + 1) % length
    const entries = this.#proxies.map((_, at) => (first + at) % length).map((at) => [at, this.#proxies[at]!] as const)
    const isResting = ([at]: readonly [number, unknown]) => (this.#list.resting.get(at) ?? 0) > performance.now()
    return [...entries.filter((entry) => !isResting(entry)), ...entries.filter(isResting)]
  }

  /** Records the proxy of a page. */
  chose(url: string, index: number): void {
    this.#pages.delete(url)
    this.#pages.set(url, index)
    evictOldest(this.#pages, limits.identity.proxyPages)
  }

  failed(index: number, error: string): void {
    this.#list.resting.set(index, performance.now() + proxyRestMs)
    if (this.#proxies.length > 1) this.#failures.push(error)
  }

  /** Returns a warning about proxies that were left out since the last call. */
  takeWarning(): string | undefined {
    const failures = [...new Set(this.#failures)]
    this.#failures = []
    return failures.length === 0 ? undefined : `other proxies were used: ${namesOf(failures)}`
  }

  async #open(proxy: ReadProxy, egress: Egress, from: Origin): Promise<Upstream> {
    const { openUpstream } = await import('../../egress/chain.ts')
    const settings = typeof proxy === 'string' ? { server: proxy } : proxy
    try {
      return await openUpstream(settings, egress, { from, agents: this.#list.agents })
    } catch (error) {
      const { protocol, host } = parseProxyUrl(settings.server)!
      const name = `the proxy ${protocol}//${host}`
      if (!(error instanceof BaxError)) throw proxyFailed(name, 'could not be resolved', error)
      if (error.code !== 'url_blocked') throw error
      throw new BaxError('url_blocked', `${name} is blocked`, { cause: error, ...(error.hint && { hint: error.hint }) })
    }
  }
}

class PageProxy implements ProxyTurn {
  readonly #proxies: ReadProxies
  readonly #url: string
  readonly #open: (proxy: ReadProxy) => Promise<Upstream>
  #order: (readonly [index: number, ReadProxy])[] | undefined
  #opened: Promise<Upstream> | undefined
  #errors: BaxError[] = []

  constructor(proxies: ReadProxies, url: string, open: (proxy: ReadProxy) => Promise<Upstream>) {
    this.#proxies = proxies
    this.#url = url
    this.#open = open
  }

  async current(): Promise<Upstream> {
    for (;;) {
      this.#order ??= [...this.#proxies.orderFor(this.#url)]
      const [index, proxy] = this.#order[0]!
      const opened = (this.#opened ??= this.#open(proxy))
      try {
        const upstream = await opened
        this.#proxies.chose(this.#url, index)
        return upstream
      } catch (error) {
        this.#leaveOut(opened, error)
      }
    }
  }

  async replace(failed: Upstream, error: unknown): Promise<void> {
    const opened = this.#opened
    // Another request of the page may have replaced it.
    if ((await opened?.catch(() => undefined)) === failed) this.#leaveOut(opened, error)
  }

  #leaveOut(opened: Promise<Upstream> | undefined, error: unknown): void {
    if (!(error instanceof BaxError) || error.code !== 'proxy_failed') throw error
    if (opened !== this.#opened || !this.#order) return
    const [index] = this.#order.shift()!
    this.#proxies.failed(index, error.message)
    this.#opened = undefined
    this.#errors.push(error)
    if (this.#order.length > 0) return
    const errors = this.#errors
    // A later request of the page tries all of them again.
    this.#order = undefined
    this.#errors = []
    throw errors.length === 1 ? error : allFailed(errors)
  }
}

function allFailed(errors: readonly BaxError[]): BaxError {
  const message = `all ${errors.length} proxies failed: ${namesOf(errors.map(messageOf))}`
  return new BaxError('proxy_failed', message, { hint: proxyHint(message) })
}

function namesOf(sentences: readonly string[]): string {
  const more = sentences.length - namedProxies
  return [...sentences.slice(0, namedProxies), ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}

/** Resolves host names to allowed addresses; connections then use the checked addresses. */
import { evictOldest } from '../evict-oldest.ts'
import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { HostLookup } from '../../core/config/config.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Policy } from './policy.ts'

export class HostResolver {
  readonly #policy: Policy
  readonly #lookupHost: HostLookup
  readonly #cache = new Map<string, { readonly addresses: Promise<readonly LookupAddress[]>; readonly until: number }>()

  constructor(policy: Policy, lookupHost: HostLookup = systemHostLookup) {
    this.#policy = policy
    this.#lookupHost = lookupHost
  }

  /**
   * Resolves a host to its allowed addresses, in the resolver's order.
   * @throws BaxError `url_blocked` when all addresses are blocked; the resolver's error when there are none.
   */
  resolve(host: string): Promise<readonly LookupAddress[]> {
    const now = performance.now()
    const cached = this.#cache.get(host)
    if (cached && cached.until > now) return cached.addresses
    const addresses = this.#resolve(host)
    this.#cache.delete(host)
    this.#cache.set(host, { addresses, until: now + limits.egress.nameMs })
    evictOldest(this.#cache, limits.egress.names)
    // Do not cache failures.
    addresses.catch(() => {
      if (this.#cache.get(host)?.addresses === addresses) this.#cache.delete(host)
    })
    return addresses
  }

  /** Lookup function for Node's sockets, which call it only for names: IP addresses have to be checked before. */
  readonly lookup: LookupFunction = (host, options: LookupOptions, onResolved) => {
    const family = options.family === 'IPv4' ? 4 : options.family === 'IPv6' ? 6 : options.family
    this.resolve(host).then(
      (all) => {
        const fitting = family ? all.filter((address) => address.family === family) : all
        const [first] = fitting
        if (!first) onResolved(noAddress(host), '')
        else if (options.all) onResolved(null, [...fitting])
        else onResolved(null, first.address, first.family)
      },
      (error: Error) => onResolved(error, ''),
    )
  }

  async #resolve(host: string): Promise<readonly LookupAddress[]> {
    const version = isIP(host)
    const all = version === 0 ? await this.#lookupHost(host) : [{ address: host, family: version }]
    const allowed = all.filter(({ address }) => this.#policy.refusalOf(address) === undefined)
    if (allowed.length > 0) return allowed
    const [first] = all
    throw first ? this.#policy.refuse(this.#policy.refusalOf(first.address)!) : noAddress(host)
  }
}

const systemHostLookup: HostLookup = (host) =>
  new Promise((resolve, reject) => {
    systemLookup(host, { all: true, verbatim: true }, (error, addresses) =>
      error ? reject(error) : resolve(addresses),
    )
  })

const noAddress = (host: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`no address of ${host}`), { code: 'ENOTFOUND' })

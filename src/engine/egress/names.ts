/** From host names to addresses that may be reached; what is dialled afterwards is what was checked here. */
import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { HostLookup } from '../../core/config/config.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Policy } from './policy.ts'

interface Known {
  readonly addresses: Promise<readonly LookupAddress[]>
  readonly until: number
}

export class Names {
  readonly #policy: Policy
  readonly #ask: HostLookup
  readonly #known = new Map<string, Known>()

  constructor(policy: Policy, ask: HostLookup = askSystem) {
    this.#policy = policy
    this.#ask = ask
  }

  /**
   * The addresses of a host that may be reached, in the resolver's order.
   * @throws BaxError `url_blocked` when there are only others; the resolver's error when there are none.
   */
  resolve(host: string): Promise<readonly LookupAddress[]> {
    const now = performance.now()
    const known = this.#known.get(host)
    if (known && known.until > now) return known.addresses
    const addresses = this.#resolve(host)
    this.#known.delete(host)
    this.#known.set(host, { addresses, until: now + limits.egress.nameMs })
    if (this.#known.size > limits.egress.names) this.#known.delete(this.#known.keys().next().value!)
    // Whoever asks next gets another try.
    addresses.catch(() => {
      if (this.#known.get(host)?.addresses === addresses) this.#known.delete(host)
    })
    return addresses
  }

  /** The same for Node's sockets, which ask for names only: addresses have to be checked before. */
  readonly lookup: LookupFunction = (host, options: LookupOptions, tell) => {
    const family = options.family === 'IPv4' ? 4 : options.family === 'IPv6' ? 6 : options.family
    this.resolve(host).then(
      (all) => {
        const fitting = family ? all.filter((address) => address.family === family) : all
        const [first] = fitting
        if (!first) tell(noAddress(host), '')
        else if (options.all) tell(null, [...fitting])
        else tell(null, first.address, first.family)
      },
      (error: Error) => tell(error, ''),
    )
  }

  async #resolve(host: string): Promise<readonly LookupAddress[]> {
    const version = isIP(host)
    const all = version === 0 ? await this.#ask(host) : [{ address: host, family: version }]
    const allowed = all.filter(({ address }) => this.#policy.against(address) === undefined)
    if (allowed.length > 0) return allowed
    const [first] = all
    throw first ? this.#policy.refuse(this.#policy.against(first.address)!) : noAddress(host)
  }
}

const askSystem: HostLookup = (host) =>
  new Promise((resolve, reject) => {
    systemLookup(host, { all: true, verbatim: true }, (error, addresses) =>
      error ? reject(error) : resolve(addresses),
    )
  })

const noAddress = (host: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`no address of ${host}`), { code: 'ENOTFOUND' })

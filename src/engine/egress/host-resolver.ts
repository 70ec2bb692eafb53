/** Resolves host names to allowed addresses; connections then use the checked addresses. */
import { evictOldest } from '../evict-oldest.ts'
import type { LookupAddress, LookupOptions } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { HostLookup } from '../../core/config/config.ts'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import { FairQueue, reserveFor } from '../../core/process/fair-queue.ts'
import type { WorkOptions } from '../../core/process/turns.ts'
import { systemHostLookup } from './host-lookup.ts'
import type { Policy } from './policy.ts'

const { lookups, lookupMs, nameMs, failedNameMs, names: mostNames } = limits.egress

interface KnownName {
  readonly addresses: Promise<readonly LookupAddress[]>
  /** Time (`performance.now()`) until which the result is used; unlimited while the name is being looked up. */
  until: number
  /** Callers that wait for the result. */
  waiting: number
  readonly abandon: AbortController
}

export class HostResolver {
  readonly #policy: Policy
  readonly #lookupHost: HostLookup
  readonly #known = new Map<string, KnownName>()
  /** Keys that have few look-ups get further slots, because those of names without an answer take long. */
  readonly #queue = new FairQueue({ atOnce: lookups, reserve: reserveFor(lookups) })

  constructor(policy: Policy, lookupHost: HostLookup = systemHostLookup()) {
    this.#policy = policy
    this.#lookupHost = lookupHost
  }

  /**
   * Resolves a host to its allowed addresses, in the resolver's order.
   * @throws BaxError `url_blocked` when all addresses are blocked; the resolver's error when there are none; the reason of
   * the signal.
   */
  async resolve(host: string, options: WorkOptions = {}): Promise<readonly LookupAddress[]> {
    const version = isIP(host)
    if (version !== 0) return this.#allowed(host, [{ address: host, family: version }])
    const name = host.toLowerCase()
    const known = this.#find(name)
    if (known) return waitFor(known, options)
    // Another caller may have looked it up meanwhile. A caller waits in the queue of its own key.
    return this.#queue.run(() => waitFor(this.#find(name) ?? this.#look(name), options), options)
  }

  /** Returns a lookup function for Node's sockets, which call it only for names: check IP addresses before. */
  lookupFor(work: WorkOptions): LookupFunction {
    return (host, options: LookupOptions, onResolved) => {
      const family = options.family === 'IPv4' ? 4 : options.family === 'IPv6' ? 6 : options.family
      this.resolve(host, work).then(
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
  }

  #find(name: string): KnownName | undefined {
    const known = this.#known.get(name)
    return known && known.until > performance.now() ? known : undefined
  }

  #look(name: string): KnownName {
    const abandon = new AbortController()
    const error = () => Object.assign(new Error(`no answer for ${name}`), { code: 'EAI_AGAIN' })
    const addresses = withDeadline((signal) => this.#lookupHost(name, signal), {
      ms: lookupMs,
      error,
      signal: abandon.signal,
    }).then((all) => this.#allowed(name, all))
    const known: KnownName = { addresses, until: Infinity, waiting: 0, abandon }
    this.#known.delete(name)
    this.#known.set(name, known)
    evictOldest(this.#known, mostNames)
    addresses.then(
      () => (known.until = performance.now() + nameMs),
      // A page names a host that fails many times. The policy does not depend on time, but the next answer may be another.
      ({ code }: { code?: string }) => {
        if (code === 'url_blocked' || abandon.signal.aborted) this.#forget(name, known)
        else known.until = performance.now() + failedNameMs
      },
    )
    return known
  }

  #forget(name: string, known: KnownName): void {
    if (this.#known.get(name) === known) this.#known.delete(name)
  }

  #allowed(host: string, all: readonly LookupAddress[]): readonly LookupAddress[] {
    const allowed = all.filter(({ address }) => this.#policy.refusalOf(address) === undefined)
    if (allowed.length > 0) return allowed
    const [first] = all
    throw first ? this.#policy.refuse(this.#policy.refusalOf(first.address)!) : noAddress(host)
  }
}

/** Waits for a name. The look-up is cancelled when its last caller has stopped waiting. */
async function waitFor(known: KnownName, { signal }: WorkOptions): Promise<readonly LookupAddress[]> {
  known.waiting++
  try {
    return await withDeadline(known.addresses, { ...(signal && { signal }) })
  } finally {
    known.waiting--
    if (known.waiting === 0 && known.until === Infinity) {
      known.until = 0
      known.abandon.abort(new Error('the look-up was cancelled'))
    }
  }
}

const noAddress = (host: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`no address of ${host}`), { code: 'ENOTFOUND' })

/** Egress policy: the rule for every connection of the engine and its browsers. */
import { BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { parseRange } from '../../core/net/address-range.ts'
import { metadataAddresses, otherServices } from '../../core/net/blocked-targets.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { EngineStatus } from '../../core/shapes/engine.ts'

/** Names that are blocked too, since a further proxy may resolve them to other addresses. */
const metadataHosts: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.tencentyun.com',
  'instance-data',
  'instance-data.ec2.internal',
])

/** Reason why a connection is blocked. */
export type Refusal = keyof EngineStatus['egress_refused']

export interface PolicyFacts {
  /** Whether addresses outside the public internet are allowed. */
  readonly privateAllowed: boolean
  /** Private ranges that are allowed anyway (`10.0.0.0/8`). */
  readonly opened: readonly string[]
}

export class Policy {
  readonly #privateAllowed: boolean
  readonly #opened = new BlockList()
  readonly #refused: Record<Refusal, number> = { private: 0, metadata: 0, port: 0, scheme: 0 }

  /** @throws BaxError `invalid_request` for an invalid range. */
  constructor({ privateAllowed, opened }: PolicyFacts) {
    this.#privateAllowed = privateAllowed
    for (const text of opened) {
      const { address, bits, family } = parseRange(text, 'allow_private')
      this.#opened.addSubnet(address, bits, family)
    }
  }

  /** Number of blocked connections by reason. */
  get refused(): Readonly<Record<Refusal, number>> {
    return { ...this.#refused }
  }

  /** Counts a blocked connection and returns its error, which is the same for all reasons. */
  refuse(reason: Refusal): BaxError {
    this.#refused[reason] += 1
    return new BaxError('url_blocked', 'URL blocked')
  }

  /** Returns why connections to an IPv4 or IPv6 address are blocked; undefined when they are allowed. */
  refusalOf(address: string): Refusal | undefined {
    const bare = address.replace(/%.*$/, '')
    if (!ipaddr.isValid(bare)) return 'private'
    const parsed = ipaddr.process(bare)
    const within = embeddedIpv4(parsed)
    if (metadata.has(parsed.toString()) || (within && metadata.has(within.toString()))) return 'metadata'
    if (this.#privateAllowed) return undefined
    const target = within && isTranslated(parsed) ? within : parsed
    return this.#opened.check(target.toString(), target.kind()) || isPublic(target) ? undefined : 'private'
  }

  /**
   * Checks a host and port without resolving names.
   * @throws BaxError `url_blocked`
   */
  checkTarget(host: string, port: number): void {
    if (otherServices.has(port)) throw this.refuse('port')
    if (metadataHosts.has(host.toLowerCase().replace(/\.$/, ''))) throw this.refuse('metadata')
    const reason = isIP(host) === 0 ? undefined : this.refusalOf(host)
    if (reason) throw this.refuse(reason)
  }
}

/** Removes the brackets from an IPv6 address in the host of a URL. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1')

type Address = ipaddr.IPv4 | ipaddr.IPv6

const metadata = new Set(metadataAddresses.map((address) => ipaddr.parse(address).toString()))

/** Returns the IPv4 address that a gateway or tunnel would extract from an IPv6 address. */
function embeddedIpv4(address: Address): ipaddr.IPv4 | undefined {
  if (address instanceof ipaddr.IPv4) return undefined
  const bytes = address.toByteArray()
  const at = (start: number) => new ipaddr.IPv4(bytes.slice(start, start + 4))
  switch (address.range()) {
    case '6to4':
      return at(2)
    case 'rfc6052':
    case 'rfc6145':
      return at(12)
    case 'teredo':
      return new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff))
    default:
      // IPv4-compatible addresses (::a.b.c.d), and ISATAP.
      return bytes.slice(0, 12).every((byte) => byte === 0) || (bytes[10] === 0x5e && bytes[11] === 0xfe)
        ? at(12)
        : undefined
  }
}

/** Returns whether the embedded IPv4 address decides: for the well-known NAT64 prefix, and for 6to4. */
const isTranslated = (address: Address): boolean =>
  address.range() === '6to4' || (address.range() === 'rfc6052' && address.toByteArray()[5] === 0)

/** Returns whether an address is public. Of IPv6, only 2000::/3 has been allocated to the internet. */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4 || (address.toByteArray()[0]! & 0xe0) === 0x20
}

/** What may be reached: one rule for every connection that the engine or a browser of its own makes. */
import { BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { parseRange } from '../../core/net/address-range.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { EngineStatus } from '../../core/shapes/engine.ts'
import { metadataAddresses, metadataHosts } from './metadata.ts'

/** Ports of other services, which browsers do not open either (Fetch, "bad port"). */
const otherServices = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111,
  113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548,
  554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566,
  6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
]) // prettier-ignore

/** Why a connection is not made. */
export type Refusal = keyof EngineStatus['egress_refused']

export interface PolicyFacts {
  /** Whether addresses that are not on the public internet may be reached. */
  readonly privateAllowed: boolean
  /** Ranges that may be reached all the same (`10.0.0.0/8`). */
  readonly opened: readonly string[]
}

export class Policy {
  readonly #privateAllowed: boolean
  readonly #opened = new BlockList()
  readonly #refused: Record<Refusal, number> = { private: 0, metadata: 0, port: 0, scheme: 0 }

  /** @throws BaxError `invalid_request` for what is no range. */
  constructor({ privateAllowed, opened }: PolicyFacts) {
    this.#privateAllowed = privateAllowed
    for (const text of opened) {
      const { address, bits, family } = parseRange(text, 'allow_private')
      this.#opened.addSubnet(address, bits, family)
    }
  }

  /** How often what was refused. */
  get refused(): Readonly<Record<Refusal, number>> {
    return { ...this.#refused }
  }

  /** Counts a refusal, and gives the one answer to all of them. */
  refuse(reason: Refusal): BaxError {
    this.#refused[reason] += 1
    return new BaxError('url_blocked', 'URL blocked')
  }

  /** Why no connection may go to an address, in either notation; undefined when one may. */
  against(address: string): Refusal | undefined {
    const bare = address.replace(/%.*$/, '')
    if (!ipaddr.isValid(bare)) return 'private'
    const parsed = ipaddr.process(bare)
    const within = carriedBy(parsed)
    if (metadata.has(parsed.toString()) || (within && metadata.has(within.toString()))) return 'metadata'
    if (this.#privateAllowed) return undefined
    const target = within && isTranslated(parsed) ? within : parsed
    return this.#isOpened(target) || isPublic(target) ? undefined : 'private'
  }

  /**
   * Checks a host and port as far as they tell without a look at the name's addresses.
   * @throws BaxError `url_blocked`
   */
  checkTarget(host: string, port: number): void {
    if (otherServices.has(port)) throw this.refuse('port')
    if (metadataHosts.has(plainName(host))) throw this.refuse('metadata')
    const reason = isIP(host) === 0 ? undefined : this.against(host)
    if (reason) throw this.refuse(reason)
  }

  #isOpened(address: Address): boolean {
    return this.#opened.check(address.toString(), address.kind())
  }
}

/** The host of a URL as resolvers take it: an address of version 6 without its brackets. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1')

type Address = ipaddr.IPv4 | ipaddr.IPv6

const metadata = new Set(metadataAddresses.map((address) => ipaddr.parse(address).toString()))

/** A name in lower case, without the dot that ends it. */
const plainName = (host: string): string => host.toLowerCase().replace(/\.$/, '')

/** The address of version 4 that a gateway or tunnel would make of one of version 6. */
function carriedBy(address: Address): ipaddr.IPv4 | undefined {
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
      // Compatible addresses (::a.b.c.d), and ISATAP.
      return bytes.slice(0, 12).every((byte) => byte === 0) || (bytes[10] === 0x5e && bytes[11] === 0xfe)
        ? at(12)
        : undefined
  }
}

/** The well-known prefix of NAT64, and 6to4: what they carry decides. */
const isTranslated = (address: Address): boolean =>
  address.range() === '6to4' || (address.range() === 'rfc6052' && address.toByteArray()[5] === 0)

/** Of version 6 only one eighth has been given out; whatever lies beside it is no address of the internet. */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4 || (address.toByteArray()[0]! & 0xe0) === 0x20
}

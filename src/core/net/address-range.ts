/** IP address ranges: `10.0.0.0/8`, `fd00::/8`, or a single address. */
import { isIP } from 'node:net'
import { BaxError } from '../errors/errors.ts'

export interface AddressRange {
  readonly address: string
  /** Length of the prefix. */
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

/** Parses a range. @throws BaxError `invalid_request` that names the field. */
export function parseRange(text: string, field: string): AddressRange {
  const [, address = '', digits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? []
  const version = isIP(address)
  const longest = version === 6 ? 128 : 32
  const bits = digits === undefined ? longest : Number(digits)
  if (version === 0 || bits > longest) {
    throw new BaxError('invalid_request', `${field} ${JSON.stringify(text)} is not an address range`, {
      details: [{ path: field, message: 'is not an address range' }],
      hint: 'write it as 10.0.0.0/8, fd00::/8, or a single address such as 192.168.1.5',
    })
  }
  return { address, bits, family: version === 6 ? 'ipv6' : 'ipv4' }
}

/** The URL at which gateways reach a worker. */
import { lookup } from 'node:dns/promises'
import { BlockList } from 'node:net'
import { BaxError } from '../../core/errors/errors.ts'
import { parseUrl } from '../../core/net/parse-url.ts'

const privateRanges = new BlockList()
for (const [address, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['127.0.0.0', 8],
] as const)
  privateRanges.addSubnet(address, bits)
for (const [address, bits] of [
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  privateRanges.addSubnet(address, bits, 'ipv6')
privateRanges.addAddress('::1', 'ipv6')

/**
 * Checks the address that a worker listens on, unless the operator names the URL.
 * @throws BaxError `invalid_request` for every address of the machine, and for public ones
 */
export async function assertPrivate(host: string): Promise<void> {
  const hint = 'pass --host with a private address of this machine, or --advertise with the URL that gateways use'
  if (host === '0.0.0.0' || host === '::') {
    throw new BaxError('invalid_request', `--host ${host} means all addresses: gateways need one`, { hint })
  }
  const { address, family } = await lookup(host).catch((cause: unknown) => {
    throw new BaxError('invalid_request', `--host ${host} is unknown`, { cause, hint })
  })
  if (privateRanges.check(address, family === 6 ? 'ipv6' : 'ipv4')) return
  throw new BaxError('invalid_request', `--host ${host} is a public address: workers belong into a private network`, {
    hint,
  })
}

/** Parses `--advertise` of a worker that serves HTTP, or HTTPS. @throws BaxError `invalid_request` */
export function advertisedUrl(text: string, hasTls: boolean): string {
  const url = parseUrl(text)
  // A proxy in front of a worker without a certificate may have one.
  const isWeb = url && (url.protocol === 'https:' || (url.protocol === 'http:' && !hasTls))
  if (isWeb && url.pathname === '/' && !url.search && !url.hash && !url.username) return url.origin
  const kind = hasTls ? 'an https URL (the worker has a --tls-cert)' : 'an http or https URL'
  throw new BaxError('invalid_request', `--advertise must be ${kind} without a path, not ${JSON.stringify(text)}`, {
    hint: `pass for example --advertise ${hasTls ? 'https' : 'http'}://10.0.0.7:4200`,
  })
}

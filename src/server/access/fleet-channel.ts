/**
 * Connections between gateways and workers without a certificate: TLS 1.3 whose key is derived from the secret of the
 * fleet. Both sides prove that they have it, and nobody else can read or change what they send: headers, streams,
 * downloads and websockets.
 */
import { hkdfSync } from 'node:crypto'
import type { PeerCertificate, TlsOptions } from 'node:tls'

/** Name of the key in the handshake. */
const identity = 'bax-fleet'

const keyOf = (secret: Buffer): Buffer => Buffer.from(hkdfSync('sha256', secret, '', 'bax fleet channel', 32))

/** Keys are only used with this hash; the handshake of TLS 1.3 adds a fresh key for every connection. */
const protocol = { minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' } as const

/** Returns the options of the listener of a worker. */
export function workerChannel(secret: Buffer): TlsOptions {
  const key = keyOf(secret)
  return { ...protocol, pskCallback: (_socket, given) => (given === identity ? key : null) }
}

/** Returns the options of connections to workers. */
export function gatewayChannel(secret: Buffer) {
  const key = keyOf(secret)
  return {
    ...protocol,
    pskCallback: () => ({ psk: key, identity }),
    // A program without the secret could use a certificate instead, from any CA that this machine trusts.
    checkServerIdentity: (_host: string, certificate: Partial<PeerCertificate>) =>
      Object.keys(certificate).length > 0
        ? Object.assign(new Error('it has a certificate instead of the secret'), { code: 'CERT_REJECTED' })
        : undefined,
  }
}

/** Whether a handshake failed because the worker has another secret. */
export const isOtherSecret = ({ message }: Error): boolean => /alert illegal parameter/.test(message)

/** Whether a connection failed because the program at the other end has no secret at all. */
export const lacksSecret = ({ code = '' }: NodeJS.ErrnoException): boolean =>
  /^(?:EPROTO$|ERR_SSL_|ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/.test(code)

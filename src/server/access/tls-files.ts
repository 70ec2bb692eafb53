/** Certificate files: the certificate of a worker, and the CA that gateways trust for it. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { BaxError } from '../../core/errors/errors.ts'
import { systemReason } from '../../core/errors/system-errors.ts'

/** PEM texts. */
export interface TlsIdentity {
  /** The certificate, and any intermediate ones after it. */
  readonly cert: string
  readonly key: string
}

/** Reads a certificate and its key. @throws BaxError `invalid_request` naming the flag */
export function readTlsIdentity(files: { readonly cert: string; readonly key: string }): TlsIdentity {
  const cert = contentOf('--tls-cert', files.cert)
  const certificate = certificateIn('--tls-cert', files.cert, cert)
  const key = contentOf('--tls-key', files.key)
  if (certificate.checkPrivateKey(keyIn(files.key, key))) return { cert, key }
  throw new BaxError(
    'invalid_request',
    `--tls-key ${files.key} does not match the certificate in --tls-cert ${files.cert}`,
    {
      hint: 'pass the key that the certificate was requested with; the certificate of the worker comes first in its file',
    },
  )
}

/** Reads the certificates of CAs. @throws BaxError `invalid_request` */
export function readCa(file: string): string {
  const text = contentOf('--fleet-ca', file)
  certificateIn('--fleet-ca', file, text)
  return text
}

function contentOf(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new BaxError(
      'invalid_request',
      `cannot read ${flag} ${file}: ${systemReason(cause as NodeJS.ErrnoException)}`,
      { cause },
    )
  }
}

/** Returns the first certificate of a file. */
function certificateIn(flag: string, file: string, text: string): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch (cause) {
    throw new BaxError('invalid_request', `${flag} ${file} has no PEM certificate`, {
      cause,
      hint: 'pass a file that begins with "-----BEGIN CERTIFICATE-----"',
    })
  }
}

function keyIn(file: string, text: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch (cause) {
    throw new BaxError('invalid_request', `--tls-key ${file} has no PEM private key without a passphrase`, {
      cause,
      hint: 'remove the passphrase with "openssl pkey -in FILE -out KEY"',
    })
  }
}

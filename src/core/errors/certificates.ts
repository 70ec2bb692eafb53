/** Certificates of sites that are not verified: whether the operator allows it, and errors that it avoids. */
import type { EngineConfig } from '../config/config.ts'
import { BaxError } from './errors.ts'

interface Failure {
  readonly code: string
  readonly message: string
}

export type TlsRule = Pick<EngineConfig, 'verifyTls'>

/** @throws BaxError `invalid_request` if certificates must be verified */
export function assertMaySkipTls(
  { skip_tls_verification: skips }: { readonly skip_tls_verification?: boolean | undefined },
  { verifyTls }: TlsRule,
): void {
  if (!skips || !verifyTls) return
  throw new BaxError('invalid_request', 'skip_tls_verification is not allowed: verify_tls is set for the engine', {
    hint: 'the operator sets it with "bax serve --verify-tls", "bax worker --verify-tls" or BAX_VERIFY_TLS',
    details: [{ path: 'skip_tls_verification', message: 'is not allowed: verify_tls is set for the engine' }],
  })
}

/** Returns how to read a site in spite of its certificate; undefined for other errors, and if `verifyTls` forbids it. */
export function certificateHint({ code, message }: Failure, verifyTls?: boolean): string | undefined {
  if (verifyTls || !isOfCertificate({ code, message })) return undefined
  return `set ${toAccept}`
}

/** Returns an error about a certificate with the hint to accept it, where that is allowed; others as they are. */
export function withTlsHint(error: unknown, { verifyTls }: TlsRule): unknown {
  const hint = error instanceof BaxError ? certificateHint(error, verifyTls) : undefined
  return hint === undefined ? error : new BaxError('tls_error', (error as BaxError).message, { cause: error, hint })
}

/** Returns the error of a page in a session; one about a certificate says how sessions accept it. */
export function withSessionTlsHint(error: BaxError): BaxError {
  if (error.hint !== undefined || !isOfCertificate(error)) return error
  return new BaxError('tls_error', error.message, { cause: error, hint: `create the session with ${toAccept}` })
}

const toAccept = '"skip_tls_verification" (--insecure) to accept any certificate: only in networks that you trust'

export const isOfCertificate = ({ code, message }: Failure): boolean =>
  code === 'tls_error' && /\bcert(?:ificate)?\b|ERR_CERT_/.test(message)

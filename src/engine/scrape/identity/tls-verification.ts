/** Reads that accept any certificate of a site: whether the operator allows them, and errors that they would avoid. */
import type { EngineConfig } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { certificateHint } from '../../../core/errors/certificate-hint.ts'

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

/** Returns an error about a certificate with the hint to accept it, where that is allowed; others as they are. */
export function withTlsHint(error: unknown, { verifyTls }: TlsRule): unknown {
  const hint = error instanceof BaxError ? certificateHint(error, verifyTls) : undefined
  return hint === undefined ? error : new BaxError('tls_error', (error as BaxError).message, { cause: error, hint })
}

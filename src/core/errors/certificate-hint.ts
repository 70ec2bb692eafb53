/** The hint of errors about the certificate of a site. */
import type { BaxError } from './errors.ts'

/** Returns how to read a site in spite of its certificate; undefined for other errors, and if `verifyTls` forbids it. */
export function certificateHint(
  { code, message }: Pick<BaxError, 'code' | 'message'>,
  verifyTls: boolean | undefined,
): string | undefined {
  if (verifyTls || code !== 'tls_error' || !/\bcert(?:ificate)?\b/.test(message)) return undefined
  return 'use --insecure, or "skip_tls_verification" in requests, to accept any certificate: only in networks that you trust'
}

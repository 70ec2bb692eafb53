/** Hints of failures to read a site. */
import type { BaxError } from '../../core/errors/errors.ts'
import type { Settings } from '../../core/config/settings.ts'
import { certificateHint } from '../../core/errors/certificates.ts'
import { blockedHint } from '../../core/text/result-notes.ts'

/** Returns the hint of a failure, or one that depends on the URL as it was typed, and on the settings. */
export function siteHint(
  failure: BaxError,
  url: unknown,
  { server, verifyTls }: Pick<Settings, 'server' | 'verifyTls'>,
): string | undefined {
  // A server has its own settings.
  const advice = server === undefined ? certificateHint(failure, verifyTls) : undefined
  return failure.hint ?? blockedHint(failure.code, [url], server) ?? advice
}

/** Input of stored credentials. */
import type { Locator } from 'playwright'
import type { CredentialKind } from '../access/credentials.ts'
import type { CallLimit } from './command.ts'

/** A log-in that has worked. */
export interface LoggedIn {
  readonly url: string
  /** Parts of the credential that were filled in, in order. */
  readonly filled: readonly CredentialKind[]
}

/** Writes values of stored credentials, which no command gets. */
export interface CredentialInput {
  /**
   * Sets a field to the value that a reference such as `shop.password` names.
   * @throws BaxError `origin_mismatch` unless the frame has an origin of the credential, `credential_not_found`
   */
  fill(
    element: Locator,
    field: { readonly selector: string; readonly reference: string },
    limit: CallLimit,
  ): Promise<void>
  /** Logs in on the active page. @throws BaxError `login_failed` with the reason, and those of `fill` */
  logIn(name: string, limit: CallLimit): Promise<LoggedIn>
  /** Lets the pages of the session create and use passkeys of a credential; returns the RP IDs of those that it has. */
  usePasskeys(name: string): Promise<string[]>
}

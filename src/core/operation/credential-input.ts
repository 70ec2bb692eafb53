/** Input of stored credentials. */
import type { Locator } from 'playwright'
import type { CallLimit } from './command.ts'

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
}

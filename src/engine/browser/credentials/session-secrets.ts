/** Values of credentials that a session has used; they are removed from all its results. */
import type { BrowserContext } from 'playwright'
import { catalogue } from '../../../commands/index.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { EventLog } from '../../../core/events/events.ts'
import type { CommandResult } from '../../../core/shapes/commands.ts'
import type { Observation } from '../../../core/shapes/observe.ts'
import { makeMask, type Mask, maskTrace } from '../../../core/access/mask.ts'
import { oncePer } from '../../../core/once-per.ts'
import { privacyOf } from '../privacy/privacy.ts'

/** Returns the secrets of the session that a context belongs to. */
export const secretsOf = oncePer<BrowserContext, SessionSecrets>(() => new SessionSecrets())

/** Returns a function that removes values of credentials, and what a person typed during a handoff. */
export const hiderOf =
  (context: BrowserContext) =>
  <T>(value: T): T =>
    privacyOf(context).redact(secretsOf(context).hide(value))

class SessionSecrets {
  readonly #values = new Set<string>()
  #mask: Mask | undefined

  /** Removes a value from now on, also from the events of the session. */
  add(value: string, events: EventLog): void {
    this.#values.add(value)
    this.#mask = makeMask(this.#values)
    events.hideWith((data) => this.hide(data))
  }

  hide<T>(value: T): T {
    return this.#mask ? this.#mask.deep(value) : value
  }

  /** Hides secrets in the results of commands, but not in the bytes of images, which would contain them by chance. */
  hideInResult(result: CommandResult): CommandResult {
    const field = catalogue.get(result.command)?.bytes
    const bytes = field === undefined ? undefined : result.data?.[field]
    if (!this.#mask || typeof bytes !== 'string') return this.hide(result)
    return {
      ...this.hide({ ...result, data: { ...result.data, [field!]: '' } }),
      data: { ...result.data, [field!]: bytes },
    }
  }

  async hideInTrace(zip: Uint8Array): Promise<Uint8Array> {
    return this.#mask ? maskTrace(zip, this.#mask) : zip
  }

  /** Hides secrets in an observation, but not in the bytes of its screenshot. */
  hideInObservation(observation: Observation): Observation {
    const { screenshot, ...text } = observation
    return { ...this.hide(text), ...(screenshot !== undefined && { screenshot }) }
  }

  hideInError(error: BaxError): BaxError {
    if (!this.#mask) return error
    const { code, message, hint, details } = error
    return new BaxError(code, this.hide(message), {
      cause: error,
      ...(hint !== undefined && { hint: this.hide(hint) }),
      ...(details !== undefined && { details: this.hide(details) }),
    })
  }
}

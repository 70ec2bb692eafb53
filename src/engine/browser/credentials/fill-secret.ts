/** Writes values of credentials into fields of pages. */
import type { ElementHandle } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import type { Caller } from '../../../core/access/caller.ts'
import type { CredentialPart } from '../../../core/access/credentials.ts'
import type { Credential, UsableCredential } from '../../../core/stores.ts'
import { totpCode } from '../../store/totp.ts'
import type { Delivery } from '../input/delivery.ts'
import { inIsolatedWorld } from '../page/internals.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import { guardNavigations } from './leave-guard.ts'
import { secretsOf } from './session-secrets.ts'
import { type SecretOutcome, writeSecret } from './write-secret.ts'

/** Caller of the batch; undefined in the browsers of users. */
type BatchCaller = Caller | undefined

/** Records whether the value has reached the page; undefined where that is not reported. */
type FillDelivery = Pick<Delivery, 'send' | 'restart'> | undefined

/** Loads a credential of the session's owner. @throws BaxError `credential_not_found`, `permission_denied`, `unsupported` */
export async function credentialFor(target: BatchTarget, name: string, caller: BatchCaller): Promise<UsableCredential> {
  if (target.credential) return target.credential(name, caller)
  throw new BaxError('unsupported', "credentials are not written into a user's own browser", {
    hint: 'use a session of the engine ("bax session create")',
  })
}

/** Writes the part of a credential that a reference such as `shop.password` names. @throws BaxError `origin_mismatch` */
export async function fillReference(
  target: BatchTarget,
  field: { readonly selector: string; readonly handle: ElementHandle },
  given: { readonly reference: string; readonly caller: BatchCaller; readonly delivery: FillDelivery },
): Promise<void> {
  const [name, part] = given.reference.split('.') as [string, CredentialPart]
  await fillPart(target, field, await credentialFor(target, name, given.caller), part, given.delivery)
}

export async function fillPart(
  target: BatchTarget,
  { selector, handle }: { readonly selector: string; readonly handle: ElementHandle },
  credential: Credential,
  part: CredentialPart,
  delivery?: FillDelivery,
): Promise<void> {
  const { events, browserContext } = target
  const { name, origins } = credential
  const stored = credential[part]
  if (stored === undefined) throw new BaxError('credential_not_found', `the credential ${name} has no ${part}`)
  const value = part === 'totp' ? await totpCode(stored, Date.now()) : stored
  if (part !== 'username') secretsOf(browserContext).add(value, events)
  const frame = await handle.ownerFrame()
  if (part === 'password' && frame) await guardNavigations(frame, value, origins, events)
  const write = () => inIsolatedWorld(handle, writeSecret, { value, part, origins })
  const outcome = await (delivery ? delivery.send(write) : write())
  const isWritten = typeof outcome === 'object' && 'written' in outcome
  events.emit('credential.used', {
    credential: name,
    part,
    success: isWritten,
    ...(isWritten && { origin: outcome.written }),
  })
  if (isWritten) return
  if (typeof outcome === 'string' || 'untouched' in outcome) delivery?.restart()
  throw refused(outcome, { selector, credential, part, isInFrame: frame?.parentFrame() != null })
}

interface Refused {
  readonly selector: string
  readonly credential: Credential
  readonly part: CredentialPart
  readonly isInFrame: boolean
}

function refused(outcome: SecretOutcome | 'error:notconnected', facts: Refused): BaxError {
  const { selector, credential, part, isInFrame } = facts
  const { name, origins } = credential
  const details = { selector, credential: name, part }
  if (outcome === 'error:notconnected')
    return new BaxError('element_detached', `${selector} was removed with its page before the ${part} was written`, {
      details,
    })
  if ('fault' in outcome)
    return new BaxError('not_editable', `${selector} gets no ${part}: it ${outcome.fault}`, { details })
  const [what, origin] =
    'frame' in outcome
      ? [isInFrame ? 'is in a frame of' : 'is on a page of', outcome.frame]
      : ['belongs to a form for', (outcome as { form: string }).form]
  return new BaxError('origin_mismatch', `${selector} ${what} ${origin}, and ${name} is for ${origins.join(', ')}`, {
    details: { ...details, origin, origins },
    hint: 'open the right page; add the credential again with another --origin only if you trust it',
  })
}

/** The identity of a session for requests outside of its pages: its cookies, in both directions, and its properties. */
import { BaxError } from '../../core/errors/errors.ts'
import { noIdentity } from '../../core/identity.ts'
import type { IdentityInput } from '../../core/shapes/read/identity.ts'
import type { LiveSession } from '../browser/ports/session.ts'
import { ReadIdentity, type IdentityFacts } from '../render/identity/identity.ts'
import { sessionCookies, storeChanged } from './session-cookies.ts'

/** Fields of the caller, which come before those of the session. */
type Fields = Partial<Omit<IdentityInput, 'profile' | 'save_profile' | 'proxy'>>

export interface SessionIdentity {
  readonly identity: ReadIdentity
  /** Stores the cookies that have changed in the session. Returns a warning about those that the browser refused. */
  store(): Promise<string | undefined>
}

export async function openSessionIdentity(
  session: LiveSession,
  given: Fields,
  facts: Pick<IdentityFacts, 'start' | 'signer' | 'device' | 'proxies'>,
): Promise<SessionIdentity> {
  const { browserContext } = session
  const { locale, timezone, skip_tls_verification } = session.input
  const userAgent = facts.device ? undefined : session.sketch().user_agent
  const place = given.location === undefined && { locale, timezone }
  const own = { ...place, user_agent: userAgent ?? undefined }
  // The default of the request, false, does not overrule the session.
  const tls = { skip_tls_verification: skip_tls_verification || given.skip_tls_verification === true }
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const identity = new ReadIdentity({
    ...facts,
    input: { ...noIdentity, ...own, ...fields, ...tls },
    state: { cookies: await sessionCookies(browserContext, facts.start), origins: [] },
    isOfSession: true,
  })
  const before = identity.jar.all()
  const store = async () =>
    [await storeChanged(browserContext, before, identity.jar.all()), facts.signer?.warning]
      .filter(Boolean)
      .join('; ') || undefined
  return { identity, store }
}

/** @throws BaxError `invalid_request` for a field that a session decides itself */
export function refuseBeside(input: object, names: readonly string[], hint: string): void {
  const given = Object.entries(input).find(
    ([name, value]) => names.includes(name) && value !== undefined && value !== false && !isEmpty(value),
  )
  if (!given) return
  const [path] = given
  throw new BaxError('invalid_request', `${path} cannot be combined with session_id`, {
    hint,
    details: [{ path, message: 'cannot be combined with session_id' }],
  })
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0

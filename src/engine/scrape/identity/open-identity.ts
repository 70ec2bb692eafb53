/** Opens the identity that a request asks for: reads its profile, and saves what the site has changed. */
import type { Caller } from '../../../core/access/caller.ts'
import { asBaxError, BaxError } from '../../../core/errors/errors.ts'
import { assertMaySkipTls, type TlsRule } from '../../../core/errors/certificates.ts'
import { hasIdentity, isProxyKind } from '../../../core/identity.ts'
import type { IdentityInput } from '../../../core/shapes/read/identity.ts'
import type { ProfileStore } from '../../../core/stores.ts'
import { withChanges } from '../../render/identity/cookie-jar.ts'
import { type Device, ReadIdentity } from '../../render/identity/identity.ts'
import type { ProxyLists, ReadProxies } from '../../render/identity/read-proxies.ts'
import { type RequestSigner, SafeSigner } from '../../render/identity/safe-signer.ts'

export interface IdentityContext extends TlsRule {
  readonly profiles: () => Promise<Pick<ProfileStore, 'load' | 'update'>>
  readonly botKey: () => Promise<RequestSigner | undefined>
  readonly caller: Caller
  /** Opens proxies; missing where requests have none. */
  readonly proxyLists?: () => Promise<Pick<ProxyLists, 'open'>>
  /** URL whose host headers and cookies without a domain are for. */
  readonly start: URL
}

export interface OpenedIdentity {
  readonly identity: ReadIdentity
  readonly profileId?: string
  /**
   * Saves changed cookies to the profile, if that is requested. Returns a warning if it fails, and about requests that
   * should have been signed, and proxies that were left out.
   */
  save(): Promise<string | undefined>
}

/** Opens an identity in place of that of a request. */
export type OpenIdentity = () => Promise<OpenedIdentity | undefined>

/**
 * Opens the identity of a request; undefined if it has none.
 * @throws BaxError `invalid_request`, `profile_not_found`, `profile_locked`
 */
export async function openIdentity(
  input: IdentityInput,
  { profiles, botKey, caller, start, proxyLists, ...tls }: IdentityContext,
): Promise<OpenedIdentity | undefined> {
  if (!hasIdentity(input)) return undefined
  assertMaySkipTls(input, tls)
  if (input.save_profile && input.profile === undefined) throw needsProfile()
  const store = input.profile === undefined ? undefined : await profiles()
  const profile = input.profile === undefined ? undefined : await store!.load(input.profile, caller)
  const signer = input.sign ? await signerOf(botKey) : undefined
  const device = input.mobile ? await phone() : undefined
  const proxies = await openProxies(input.proxy, caller, proxyLists)
  const identity = new ReadIdentity({
    input,
    start,
    ...(profile && { state: profile.state }),
    ...(device && { device }),
    ...(signer && { signer }),
    ...(proxies && { proxies }),
  })
  const saveProfile = async () => {
    if (!profile || !input.save_profile) return undefined
    const changes = identity.jar.takeChanges()
    if (changes.size === 0) return undefined
    try {
      await store!.update(profile.profile_id, (state) => ({ ...state, cookies: withChanges(state.cookies, changes) }))
      return undefined
    } catch (error) {
      identity.jar.returnChanges(changes)
      return `the profile was not saved: ${asBaxError(error).message}`
    }
  }
  const save = async () =>
    [await saveProfile(), signer?.warning, proxies?.takeWarning()].filter(Boolean).join('; ') || undefined
  return { identity, save, ...(profile && { profileId: profile.profile_id }) }
}

async function openProxies(
  given: IdentityInput['proxy'],
  { keyId }: Caller,
  lists: IdentityContext['proxyLists'],
): Promise<ReadProxies | undefined> {
  return given === undefined || isProxyKind(given) ? undefined : (await lists?.())?.open(given, keyId)
}

/** Returns the key that signs requests. @throws BaxError `invalid_request` */
export async function signerOf(botKey: IdentityContext['botKey']): Promise<SafeSigner> {
  const key = await botKey()
  if (key) return new SafeSigner(key)
  throw new BaxError('invalid_request', 'sign needs the key of a bot', {
    details: [{ path: 'sign', message: 'needs the key of a bot' }],
    hint: 'create one where the engine runs with "bax key bot --agent https://…"',
  })
}

const needsProfile = (): BaxError =>
  new BaxError('invalid_request', 'save_profile needs profile', {
    details: [{ path: 'save_profile', message: 'needs profile' }],
  })

/** Returns the device of a mobile read. */
export async function phone(): Promise<Device> {
  const { devices } = await import('playwright')
  const { userAgent, viewport, deviceScaleFactor } = devices['Pixel 7']!
  return { userAgent, viewport, deviceScaleFactor }
}

/** The identities of an engine's reads: opens them, and encrypts those that are stored with a crawl. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type Caller, keylessCaller } from '../../../core/access/caller.ts'
import type { EngineConfig } from '../../../core/config/config.ts'
import { hasIdentity, identityIn } from '../../../core/identity.ts'
import type { IdentityInput, SealedIdentity } from '../../../core/shapes/read/identity.ts'
import { createAtomic, privateDir } from '../../../core/state/files.ts'
import type { ProfileStore } from '../../../core/stores.ts'
import { scrapeUrl } from '../../render/http/web-url.ts'
import { Encryption } from '../../store/encryption.ts'
import type { OpenedIdentity } from './open-identity.ts'

/** Name that encrypted identities are bound to. */
const boundTo = 'identity'

/** The stored form of an identity, before it is encrypted. */
interface StoredIdentity {
  readonly input: IdentityInput
  readonly owner: string | null
}

type Config = Pick<EngineConfig, 'stores' | 'stateDir' | 'profileKey' | 'identityKey'>

export class Identities {
  readonly #config: Config
  #profiles: Promise<ProfileStore> | undefined
  #encryption: Promise<Encryption> | undefined

  constructor(config: Config) {
    this.#config = config
  }

  /**
   * Opens the identity of a request; undefined if it has none. Headers are for the host of the URL.
   * @throws BaxError `invalid_request`, `profile_not_found`, `profile_locked`
   */
  async open(input: IdentityInput & { readonly url: string }, caller: Caller): Promise<OpenedIdentity | undefined> {
    if (!hasIdentity(input)) return undefined
    const { openIdentity } = await import('./open-identity.ts')
    const start = new URL(scrapeUrl(input.url))
    return openIdentity(input, { start, caller, profiles: () => (this.#profiles ??= this.#openProfiles()) })
  }

  /** Returns a request with its identity encrypted, and the opened identity. @throws BaxError as `open` does */
  async seal<Input extends IdentityInput & { readonly url: string }>(input: Input, caller: Caller) {
    const opened = await this.open(input, caller)
    if (!opened) return { input }
    const own = { ...identityIn(input), ...(opened.profileId !== undefined && { profile: opened.profileId }) }
    const text = JSON.stringify({ input: own, owner: caller.keyId } satisfies StoredIdentity)
    const identity = await (await this.#encrypting()).encrypt(text, boundTo)
    const names = new Set(Object.keys(own))
    const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !names.has(name)))
    return { input: { ...(rest as Input), save_profile: false, mobile: false, identity }, opened }
  }

  /** Opens the stored identity of a request. @throws BaxError `profile_not_found`, `profile_locked` */
  async unseal({ url, identity }: { readonly url: string; readonly identity?: SealedIdentity | undefined }) {
    if (!identity) return undefined
    const { input, owner } = JSON.parse(await (await this.#encrypting()).decrypt(identity, boundTo)) as StoredIdentity
    // The profile was checked when the identity was stored.
    return this.open({ ...input, url }, { ...keylessCaller, keyId: owner })
  }

  async #openProfiles(): Promise<ProfileStore> {
    const { stores, stateDir, profileKey } = this.#config
    return stores?.profiles ?? new (await import('../../store/profiles.ts')).ProfileStore(stateDir, profileKey)
  }

  #encrypting(): Promise<Encryption> {
    return (this.#encryption ??= this.#openEncryption())
  }

  async #openEncryption(): Promise<Encryption> {
    const { identityKey, profileKey, stateDir } = this.#config
    const own = async () =>
      createAtomic(join(await privateDir(stateDir), 'identity.key'), randomBytes(32).toString('hex'))
    return new Encryption(identityKey ?? profileKey ?? (await own()))
  }
}

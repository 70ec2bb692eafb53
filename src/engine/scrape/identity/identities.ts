/** The identities of an engine's reads: opens them, and encrypts those that are stored with a crawl. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type Caller, keylessCaller } from '../../../core/access/caller.ts'
import type { EngineConfig } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { credentialIn, hasIdentity, identityIn, noIdentity } from '../../../core/identity.ts'
import type { IdentityInput, SealedIdentity } from '../../../core/shapes/read/identity.ts'
import { createAtomic, privateDir } from '../../../core/state/files.ts'
import type { ProfileStore } from '../../../core/stores.ts'
import { scrapeUrl } from '../../render/http/web-url.ts'
import { Encryption } from '../../store/encryption.ts'
import type { OpenedIdentity, OpenIdentity } from './open-identity.ts'

/** Name that encrypted identities are bound to. */
const boundTo = 'identity'

/** The stored form of an identity, before it is encrypted. */
interface StoredIdentity {
  readonly input: IdentityInput
  readonly owner: string | null
}

type Config = Pick<EngineConfig, 'stores' | 'stateDir' | 'profileKey' | 'identityKey' | 'botKeyFile' | 'verifyTls'>

export class Identities {
  readonly #config: Config
  readonly #profiles = once(() => this.#openProfiles())
  readonly #proxyLists = once(async () => new (await import('../../render/identity/read-proxies.ts')).ProxyLists())
  readonly #encrypting = once(() => this.#openEncryption())

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
    const botKey = async () => (await import('../../store/bot-key.ts')).readBotKey(this.#config)
    const { verifyTls } = this.#config
    return openIdentity(input, {
      start,
      caller,
      profiles: this.#profiles,
      botKey,
      proxyLists: this.#proxyLists,
      verifyTls,
    })
  }

  /**
   * Returns a request with its identity encrypted, and the opened identity. `open` opens another one, such as that of a
   * session, which is not stored. @throws BaxError as `open` does
   */
  async seal<Input extends IdentityInput & { readonly url: string }>(
    input: Input,
    caller: Caller,
    open: OpenIdentity = () => this.open(input, caller),
  ) {
    const opened = await open()
    if (!opened) return { input }
    const own = { ...identityIn(input), ...(opened.profileId !== undefined && { profile: opened.profileId }) }
    const text = JSON.stringify({ input: own, owner: caller.keyId } satisfies StoredIdentity)
    const sealed = await (await this.#encrypting()).encrypt(text, boundTo)
    const unverified = input.skip_tls_verification
    const identity: SealedIdentity = { ...sealed, credentials: credentialIn(input) !== undefined, unverified }
    const names = new Set(Object.keys(own))
    const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !names.has(name)))
    return { input: { ...(rest as Input), ...noIdentity, identity }, opened }
  }

  /** Opens the stored identity of a request. @throws BaxError `profile_not_found`, `profile_locked` */
  async unseal({ url, identity }: { readonly url: string; readonly identity?: SealedIdentity | undefined }) {
    if (!identity) return undefined
    const { input, owner } = JSON.parse(await this.#decrypt(identity)) as StoredIdentity
    // The profile was checked when the identity was stored.
    return this.open({ ...input, url }, { ...keylessCaller, keyId: owner })
  }

  async #decrypt(identity: SealedIdentity): Promise<string> {
    const encryption = await this.#encrypting()
    try {
      return await encryption.decrypt(identity, boundTo)
    } catch (cause) {
      throw new BaxError('profile_locked', 'the identity of the crawl cannot be decrypted', {
        cause,
        hint: 'start the crawl again; set BAX_PROFILE_KEY (or --profile-key-file) to keep identities readable elsewhere',
      })
    }
  }

  async #openProfiles(): Promise<ProfileStore> {
    const { stores, stateDir, profileKey } = this.#config
    return stores?.profiles ?? new (await import('../../store/profiles.ts')).ProfileStore(stateDir, profileKey)
  }

  async #openEncryption(): Promise<Encryption> {
    const { identityKey, profileKey, stateDir } = this.#config
    const own = async () =>
      createAtomic(join(await privateDir(stateDir), 'identity.key'), randomBytes(32).toString('hex'))
    return new Encryption(identityKey ?? profileKey ?? (await own()))
  }
}

/** Returns a function that opens something once; a failure is not kept. */
function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opening: Promise<T> | undefined
  return () =>
    (opening ??= open().catch((error: unknown) => {
      opening = undefined
      throw error
    }))
}

/** Stored credentials, always encrypted, on the records that `credential-folder.ts` or a fleet keeps. */
import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Caller } from '../../core/access/caller.ts'
import { allowanceOf, type Allowances, credentialUses, holderOf } from '../../core/access/quota.ts'
import { RateLimiter } from '../../core/access/rate-limiter.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { didYouMean } from '../../core/errors/suggest.ts'
import {
  type CredentialInput,
  credentialParts,
  type CredentialRecord,
  type CredentialSecrets,
  originOf,
  type Passkey,
} from '../../core/access/credentials.ts'
import { limits } from '../../core/limits/limits.ts'
import { createAtomic, privateDir } from '../../core/state/files.ts'
import { localFiles } from '../../core/state/local-files.ts'
import type { Credential, CredentialStore, RateLimits, UsableCredential } from '../../core/stores.ts'
import { damagedError, damageWarning } from './credential-damage.ts'
import { CredentialFolder } from './credential-folder.ts'
import { type EncryptedText, Encryption } from './encryption.ts'
import { assertTotp } from './totp.ts'

/** Storage of encrypted credentials by ID. */
export interface CredentialRecords {
  readAll(
    isWanted: (id: string) => boolean,
  ): Promise<readonly { readonly id: string; readonly stored: EncryptedText | 'damaged' }[]>
  read(id: string): Promise<EncryptedText | 'damaged' | undefined>
  /** Adds a record; returns false if there is one with the ID. */
  add(id: string, stored: EncryptedText): Promise<boolean>
  /** Replaces a record that is still the one that was read; returns false if it was changed or deleted meanwhile. */
  replace(id: string, stored: EncryptedText, before: EncryptedText): Promise<boolean>
  /** Deletes a record, also a damaged one; returns whether there was one. */
  delete(id: string): Promise<boolean>
}

interface Readable {
  readonly own: readonly Stored[]
  /** Whether any credential of any key can be decrypted. */
  readonly isReadable: boolean
  /** Errors of those that cannot. */
  readonly locked: readonly unknown[]
  /** IDs of damaged records of this key, and of unknown ones. */
  readonly damaged: readonly string[]
}

/** Limits of the credentials of one key. */
interface CredentialShares {
  /** Numbers of credentials; without it there is no limit. */
  readonly allowances?: Allowances | undefined
  /** Counts uses. */
  readonly uses: RateLimits
}

interface Stored extends Credential {
  /** ID of the key that it belongs to; null where no keys are in use. */
  readonly owner: string | null
  readonly created_at: string
  readonly updated_at: string
}

export class StoredCredentials implements CredentialStore {
  readonly #records: CredentialRecords
  readonly #secret: () => Promise<string>
  readonly #shares: CredentialShares
  /** Owners and names of the records that were decrypted, by their IDs: those of other keys are not read again. */
  readonly #known = new Map<string, Pick<Stored, 'owner' | 'name'>>()
  /** The last addition of each key, after which the next one begins. */
  readonly #additions = new Map<string | null, Promise<unknown>>()
  #encryption: Encryption | undefined

  /** Encrypts with the secret, which is read at the first use. */
  constructor(records: CredentialRecords, secret: () => Promise<string>, shares: CredentialShares) {
    this.#records = records
    this.#secret = secret
    this.#shares = shares
  }

  async add({ origins, name, ...input }: CredentialInput, caller: Caller): Promise<CredentialRecord> {
    const { keyId: owner } = caller
    const secrets = await storedSecrets(input)
    const now = new Date().toISOString()
    const made: Stored = { name, ...secrets, origins: originsOf(origins), owner, created_at: now, updated_at: now }
    const id = idOf(name, owner)
    await this.#afterOthers(owner, () => this.#addRecord(id, made, caller))
    return recordOf(made)
  }

  #afterOthers(owner: string | null, work: () => Promise<void>): Promise<void> {
    const adding = (this.#additions.get(owner) ?? Promise.resolve()).then(work, work)
    this.#additions.set(owner, adding)
    const forget = () => {
      if (this.#additions.get(owner) === adding) this.#additions.delete(owner)
    }
    void adding.then(forget, forget)
    return adding
  }

  /** Counts after the addition, since other gateways may add at the same time; deletes what is beyond the limit. */
  async #addRecord(id: string, made: Stored, caller: Caller): Promise<void> {
    const { name } = made
    if (!(await this.#records.add(id, await this.#encrypt(id, made))))
      throw new BaxError('already_exists', `a credential is already named ${name}`, {
        hint: `change it with "bax credential rotate ${name}", or delete it first`,
      })
    const most = allowanceOf(caller, this.#shares.allowances).credentials
    if (most === 0) return
    if ((await this.#readable(caller.keyId)).own.length <= most) return
    await this.#records.delete(id)
    throw new BaxError('rate_limited', `the limit of ${most} credentials per key is reached`, {
      hint: 'delete one that is no longer needed with "bax credential delete"',
      details: { limit: 'credentials', most },
      retryAfterSecs: limits.overload.retryAfterSecs,
    })
  }

  async list(caller: Caller, onUnreadable?: (warning: string) => void): Promise<CredentialRecord[]> {
    const { own, isReadable, locked, damaged } = await this.#readable(caller.keyId)
    // One record of another vault key locks no others; its name and its owner are encrypted.
    if (locked.length > 0 && !isReadable) throw locked[0]
    const nameOf = (id: string) => this.#known.get(id)?.name
    const warnings = [
      locked.length > 0 && `${locked.length} stored credentials, of any key, cannot be decrypted with this vault key`,
      damaged.length > 0 && damageWarning(damaged, nameOf, caller.admin),
    ]
    const warning = warnings.filter(Boolean).join('; ')
    if (warning) onUnreadable?.(warning)
    return own.map(recordOf).toSorted((a, b) => a.name.localeCompare(b.name))
  }

  async #readable(owner: string | null): Promise<Readable> {
    const isOther = (id: string) => this.#known.has(id) && this.#known.get(id)!.owner !== owner
    let others = 0
    const records = await this.#records.readAll((id) => {
      if (isOther(id)) others += 1
      return !isOther(id)
    })
    const damaged = records.flatMap(({ id, stored }) => (stored === 'damaged' ? [id] : []))
    const whole = records.flatMap(({ id, stored }) => (stored === 'damaged' ? [] : [{ id, stored }]))
    const read = await Promise.allSettled(whole.map(({ id, stored }) => this.#decrypt(id, stored)))
    const all = read.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    // Those that another process has deleted.
    if (this.#known.size > 2 * (records.length + others)) this.#known.clear()
    for (const one of all) this.#known.set(idOf(one.name, one.owner), { name: one.name, owner: one.owner })
    return {
      own: all.filter((one) => one.owner === owner),
      isReadable: all.length + others > 0,
      locked: read.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : [])),
      damaged,
    }
  }

  async rotate(name: string, given: CredentialSecrets, caller: Caller): Promise<CredentialRecord> {
    const secrets = await storedSecrets(given)
    return recordOf(await this.#change(name, caller, (stored) => ({ ...stored, ...secrets })))
  }

  async #change(name: string, caller: Pick<Caller, 'keyId'>, change: (stored: Stored) => Stored): Promise<Stored> {
    const id = idOf(name, caller.keyId)
    // Repeated after another change at the same time, which has changed other secrets.
    for (;;) {
      const before = await this.#record(id, name, caller)
      const changed = { ...change(await this.#decrypt(id, before)), updated_at: new Date().toISOString() }
      if (await this.#records.replace(id, await this.#encrypt(id, changed), before)) return changed
    }
  }

  /** Deletes a credential, also one that is damaged or cannot be decrypted; admins delete a damaged one by its ID too. */
  async delete(name: string, caller: Caller): Promise<void> {
    if (await this.#records.delete(idOf(name, caller.keyId))) return
    const mayBeId = caller.admin && /^[0-9a-f]{64}$/.test(name)
    if (mayBeId && (await this.#records.read(name)) === 'damaged' && (await this.#records.delete(name))) return
    throw await this.#notFound(name, caller)
  }

  async use(name: string, caller: Pick<Caller, 'keyId'>): Promise<UsableCredential> {
    await this.#countUse(caller)
    const keepPasskey = async (passkey: Passkey) =>
      void (await this.#change(name, caller, (stored) => withPasskey(stored, passkey)))
    return { ...(await this.#read(name, caller)), keepPasskey }
  }

  /** @throws BaxError `rate_limited` */
  async #countUse({ keyId }: Pick<Caller, 'keyId'>): Promise<void> {
    const counted = await this.#shares.uses.count(holderOf(keyId))
    if (!counted || counted.allowed) return
    const { rate, burst, retrySecs } = counted
    throw new BaxError('rate_limited', `one key may use credentials ${rate} times a second, in bursts of ${burst}`, {
      hint: `repeat the command after ${retrySecs} s`,
      retryAfterSecs: retrySecs,
    })
  }

  async #read(name: string, caller: Pick<Caller, 'keyId'>): Promise<Stored> {
    const id = idOf(name, caller.keyId)
    return this.#decrypt(id, await this.#record(id, name, caller))
  }

  async #record(id: string, name: string, caller: Pick<Caller, 'keyId'>): Promise<EncryptedText> {
    const stored = await this.#records.read(id)
    if (stored === undefined) throw await this.#notFound(name, caller)
    if (stored !== 'damaged') return stored
    throw damagedError(name)
  }

  async #notFound(name: string, caller: Pick<Caller, 'keyId'>): Promise<BaxError> {
    const names = (await this.#readable(caller.keyId)).own.map((one) => one.name)
    return new BaxError('credential_not_found', `no credential is named ${name}${didYouMean(name, names)}`, {
      hint: 'list them with "bax credential list"',
    })
  }

  async #encrypt(id: string, credential: Stored): Promise<EncryptedText> {
    const text = JSON.stringify(credential)
    const { chars } = limits.credentials
    if (text.length > chars)
      throw new BaxError('invalid_request', `the credential ${credential.name} has ${text.length} characters`, {
        hint: `store at most ${chars} characters, with fewer origins`,
      })
    return (await this.#encrypting()).encrypt(text, id)
  }

  async #decrypt(id: string, stored: EncryptedText): Promise<Stored> {
    return JSON.parse(await (await this.#encrypting()).decrypt(stored, id)) as Stored
  }

  async #encrypting(): Promise<Encryption> {
    return (this.#encryption ??= new Encryption(await this.#secret(), lockedError))
  }
}

/** Credentials on disk, encrypted with the vault key, else with a secret in the state folder; uses are counted here. */
export class CredentialVault extends StoredCredentials {
  constructor(stateDir: string, vaultKey?: string, allowances?: Allowances) {
    const own = async () => {
      await privateDir(stateDir)
      return createAtomic(localFiles(stateDir).vaultKey, randomBytes(32).toString('hex'))
    }
    const secret = vaultKey === undefined ? own : async () => vaultKey
    const uses = new RateLimiter(credentialUses)
    super(new CredentialFolder(join(stateDir, 'credentials')), secret, { allowances, uses })
  }
}

const lockedError = (cause: unknown): BaxError =>
  new BaxError('credential_locked', 'cannot decrypt a stored credential with this vault key', {
    cause,
    hint: 'set BAX_VAULT_KEY to the key that it was stored with',
  })

/** Returns the ID of a credential, by which names are unique for each owner. */
const idOf = (name: string, owner: string | null): string =>
  createHash('sha256')
    .update(JSON.stringify([owner, name]))
    .digest('hex')

const originsOf = (urls: readonly string[]): string[] => [...new Set(urls.map((url) => originOf(url)!))]

/** Returns secrets as they are stored. @throws BaxError `invalid_request` for an invalid secret of one-time codes */
async function storedSecrets({ passkey, ...secrets }: CredentialSecrets): Promise<Partial<Stored>> {
  if (secrets.totp !== undefined) await assertTotp(secrets.totp)
  return { ...secrets, ...(passkey && { passkeys: [] }) }
}

/** Adds a passkey, or sets its number of uses, which never decreases. @throws BaxError `unsupported` for too many */
function withPasskey(stored: Stored, passkey: Passkey): Stored {
  const { passkeys = [] } = stored
  const isSame = ({ credentialId }: Passkey) => credentialId === passkey.credentialId
  const known = passkeys.find(isSame)
  if (!known && passkeys.length >= limits.credentials.passkeys)
    throw new BaxError('unsupported', `${stored.name} has ${passkeys.length} passkeys, which is the limit`, {
      hint: `forget them with "bax credential rotate ${stored.name} --passkey --no-password"`,
    })
  const kept = { ...passkey, signCount: Math.max(passkey.signCount, known?.signCount ?? 0) }
  return { ...stored, passkeys: known ? passkeys.map((one) => (isSame(one) ? kept : one)) : [...passkeys, kept] }
}

const recordOf = ({ name, origins, created_at, updated_at, passkeys, ...secrets }: Stored): CredentialRecord => ({
  name,
  origins: [...origins],
  parts: [...credentialParts.filter((part) => secrets[part] !== undefined), ...(passkeys ? ['passkey' as const] : [])],
  ...(passkeys && { rp_ids: [...new Set(passkeys.map(({ rpId }) => rpId))] }),
  created_at,
  updated_at,
})

/** Stored credentials, always encrypted, on the records that `credential-folder.ts` or a fleet keeps. */
import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Caller } from '../../core/access/caller.ts'
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
import type { Credential, CredentialStore, UsableCredential } from '../../core/stores.ts'
import { CredentialFolder } from './credential-folder.ts'
import { type EncryptedText, Encryption } from './encryption.ts'
import { assertTotp } from './totp.ts'

/** Storage of encrypted credentials by ID. */
export interface CredentialRecords {
  readAll(): Promise<readonly { readonly id: string; readonly stored: EncryptedText }[]>
  read(id: string): Promise<EncryptedText | undefined>
  /** Adds a record; returns false if there is one with the ID. */
  add(id: string, stored: EncryptedText): Promise<boolean>
  /** Replaces a record that is still the one that was read; returns false if it was changed or deleted meanwhile. */
  replace(id: string, stored: EncryptedText, before: EncryptedText): Promise<boolean>
  /** Returns whether there was one. */
  delete(id: string): Promise<boolean>
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
  #encryption: Encryption | undefined

  /** Encrypts with the secret, which is read at the first use. */
  constructor(records: CredentialRecords, secret: () => Promise<string>) {
    this.#records = records
    this.#secret = secret
  }

  async add({ origins, name, ...input }: CredentialInput, { keyId: owner }: Caller): Promise<CredentialRecord> {
    const secrets = await storedSecrets(input)
    const now = new Date().toISOString()
    const made: Stored = { name, ...secrets, origins: originsOf(origins), owner, created_at: now, updated_at: now }
    const id = idOf(name, owner)
    if (await this.#records.add(id, await this.#encrypt(id, made))) return recordOf(made)
    throw new BaxError('already_exists', `a credential is already named ${name}`, {
      hint: `change it with "bax credential rotate ${name}", or delete it first`,
    })
  }

  async list({ keyId }: Caller, onUnreadable?: (count: number) => void): Promise<CredentialRecord[]> {
    const { all, errors } = await this.#readable()
    // One record of another vault key locks no others; its name and its owner are encrypted.
    if (errors.length > 0 && all.length === 0) throw errors[0]
    if (errors.length > 0) onUnreadable?.(errors.length)
    return all
      .filter(({ owner }) => owner === keyId)
      .map(recordOf)
      .toSorted((a, b) => a.name.localeCompare(b.name))
  }

  async #readable(): Promise<{ all: Stored[]; errors: unknown[] }> {
    const records = await this.#records.readAll()
    const read = await Promise.allSettled(records.map(({ id, stored }) => this.#decrypt(id, stored)))
    return {
      all: read.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
      errors: read.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : [])),
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
      const before = await this.#records.read(id)
      if (!before) throw await this.#notFound(name, caller)
      const changed = { ...change(await this.#decrypt(id, before)), updated_at: new Date().toISOString() }
      if (await this.#records.replace(id, await this.#encrypt(id, changed), before)) return changed
    }
  }

  /** Deletes a credential, also one that cannot be decrypted. */
  async delete(name: string, caller: Caller): Promise<void> {
    if (!(await this.#records.delete(idOf(name, caller.keyId)))) throw await this.#notFound(name, caller)
  }

  async use(name: string, caller: Pick<Caller, 'keyId'>): Promise<UsableCredential> {
    const keepPasskey = async (passkey: Passkey) =>
      void (await this.#change(name, caller, (stored) => withPasskey(stored, passkey)))
    return { ...(await this.#read(name, caller)), keepPasskey }
  }

  async #read(name: string, caller: Pick<Caller, 'keyId'>): Promise<Stored> {
    const id = idOf(name, caller.keyId)
    const stored = await this.#records.read(id)
    if (!stored) throw await this.#notFound(name, caller)
    return this.#decrypt(id, stored)
  }

  async #notFound(name: string, caller: Pick<Caller, 'keyId'>): Promise<BaxError> {
    const { all } = await this.#readable()
    const names = all.filter(({ owner }) => owner === caller.keyId).map((one) => one.name)
    return new BaxError('credential_not_found', `no credential is named ${name}${didYouMean(name, names)}`, {
      hint: 'list them with "bax credential list"',
    })
  }

  async #encrypt(id: string, credential: Stored): Promise<EncryptedText> {
    return (await this.#encrypting()).encrypt(JSON.stringify(credential), id)
  }

  async #decrypt(id: string, stored: EncryptedText): Promise<Stored> {
    return JSON.parse(await (await this.#encrypting()).decrypt(stored, id)) as Stored
  }

  async #encrypting(): Promise<Encryption> {
    return (this.#encryption ??= new Encryption(await this.#secret(), lockedError))
  }
}

/** Credentials on disk, encrypted with the vault key, else with a secret in the state folder. */
export class CredentialVault extends StoredCredentials {
  constructor(stateDir: string, vaultKey?: string) {
    const own = async () => {
      await privateDir(stateDir)
      return createAtomic(localFiles(stateDir).vaultKey, randomBytes(32).toString('hex'))
    }
    super(new CredentialFolder(join(stateDir, 'credentials')), vaultKey === undefined ? own : async () => vaultKey)
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

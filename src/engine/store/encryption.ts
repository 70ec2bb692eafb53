/** Encryption at rest: AES-256-GCM with a key derived by scrypt from a secret of the operator. */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { BaxError } from '../../core/errors/errors.ts'

/** An encrypted text as stored in a file; bytes are in base64. */
export interface EncryptedText {
  readonly sealed: 'aes-256-gcm'
  readonly salt: string
  readonly iv: string
  readonly tag: string
  readonly data: string
}

const derive = promisify(scrypt) as (secret: string, salt: Buffer, length: number) => Promise<Buffer>

export class Encryption {
  readonly #secret: string
  readonly #locked: (cause: unknown) => BaxError
  /** Keys by salt, in base64, since deriving one takes a large part of a second. */
  readonly #keys = new Map<string, Promise<Buffer>>()
  #salt: string | undefined

  /** `locked` makes the error for a text of another secret; by default it is about a profile. */
  constructor(secret: string, locked = lockedProfile) {
    this.#secret = secret
    this.#locked = locked
  }

  /** Encrypts a text, bound to `name`: it does not decrypt under another name. */
  async encrypt(text: string, name: string): Promise<EncryptedText> {
    // Reuse the salt of the first decrypted text, so that one key is enough.
    this.#salt ??= randomBytes(16).toString('base64')
    const salt = this.#salt
    const iv = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', await this.#key(salt), iv).setAAD(Buffer.from(name))
    const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return {
      sealed: 'aes-256-gcm',
      salt,
      iv: iv.toString('base64'),
      tag: cipher.getAuthTag().toString('base64'),
      data: data.toString('base64'),
    }
  }

  /** Decrypts a text. @throws BaxError that `locked` makes when the secret differs, or the bytes were changed. */
  async decrypt({ salt, iv, tag, data }: EncryptedText, name: string): Promise<string> {
    this.#salt ??= salt
    const key = await this.#key(salt)
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64'), { authTagLength: 16 })
      decipher.setAAD(Buffer.from(name)).setAuthTag(Buffer.from(tag, 'base64'))
      return Buffer.concat([decipher.update(Buffer.from(data, 'base64')), decipher.final()]).toString('utf8')
    } catch (cause) {
      throw this.#locked(cause)
    }
  }

  #key(salt: string): Promise<Buffer> {
    let key = this.#keys.get(salt)
    if (!key) this.#keys.set(salt, (key = derive(this.#secret, Buffer.from(salt, 'base64'), 32)))
    return key
  }
}

/** Returns whether the content of a file is encrypted. */
export const isEncrypted = (value: object): value is EncryptedText => 'sealed' in value

const lockedProfile = (cause: unknown) => lockedError('cannot decrypt a saved profile with this profile key', cause)

export const lockedError = (message: string, cause?: unknown): BaxError =>
  new BaxError('profile_locked', message, {
    cause,
    hint: 'set BAX_PROFILE_KEY (or --profile-key-file) to the key that it was saved with',
  })

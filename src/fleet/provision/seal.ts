/** Encrypts what Redis holds for workers with the secret of the fleet, so that only its members can read or write it. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const ivBytes = 12
const tagBytes = 16

export class Seal {
  readonly #key: Buffer

  constructor(secret: string | Buffer) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'bax:provisions', 32))
  }

  /** Encrypts a text, bound to `name`: it does not decrypt under another name. */
  seal(text: string, name: string): string {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(Buffer.from(name))
    const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), data]).toString('base64')
  }

  /** Decrypts a text. @throws Error when the secret or the name differs, or the text was changed */
  open(sealed: string, name: string): string {
    const bytes = Buffer.from(sealed, 'base64')
    const iv = bytes.subarray(0, ivBytes)
    const tag = bytes.subarray(ivBytes, ivBytes + tagBytes)
    const decipher = createDecipheriv('aes-256-gcm', this.#key, iv, { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(name)).setAuthTag(tag)
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString('utf8')
  }
}

/** Replaces secret values by references to environment variables; the values themselves are not stored. */
import { createHmac, randomBytes } from 'node:crypto'

export class SecretValues {
  readonly #key = randomBytes(32)
  /** Names of the variables by the digests of their values. */
  readonly #names = new Map<string, string>()

  /** Returns the reference to a value: `${env.PASSWORD}`, and `${env.PASSWORD_2}` for another value. */
  referenceTo(value: string, kind: string): string {
    const digest = this.#digestOf(value)
    const known = this.#names.get(digest)
    if (known !== undefined) return `\${env.${known}}`
    const count = [...this.#names.values()].filter((name) => name.replace(/_\d+$/, '') === kind).length
    const name = count === 0 ? kind : `${kind}_${count + 1}`
    this.#names.set(digest, name)
    return `\${env.${name}}`
  }

  /** Returns whether a text is one of the values, as a page may show it again. */
  has(text: string): boolean {
    return this.#names.has(this.#digestOf(text))
  }

  #digestOf(value: string): string {
    return createHmac('sha256', this.#key).update(value).digest('base64')
  }
}

/** Texts that a person typed into a page, which are redacted in what the session reports afterwards. */
import { spellingsOfAll } from '../../../core/access/mask.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { LiveInput } from '../../../core/shapes/live-view.ts'

const { texts: maxTexts, chars: maxChars, least, leastInWords } = limits.handoffs.typed

const [ctrl, meta] = [2, 4]
export const redacted = '[redacted]'

export class TypedText {
  readonly #texts = new Set<string>()
  /** Text since the last key or click that may have moved to another field. */
  #current = ''
  #pattern: RegExp | undefined
  readonly #withUrls: boolean

  /** `withUrls` also redacts URLs of the address bar. */
  constructor({ withUrls }: { readonly withUrls: boolean }) {
    this.#withUrls = withUrls
  }

  get isEmpty(): boolean {
    return this.#texts.size === 0 && this.#current === ''
  }

  add(input: LiveInput): void {
    if (input.type === 'text') this.#append(input.text)
    else if (input.type === 'dialog') {
      this.addValue(input.text ?? '')
    } else if (input.type === 'navigate' || input.type === 'history') {
      this.#flush()
      if (input.type === 'navigate' && this.#withUrls) this.#addUrl(input.url)
    } else if (input.type === 'key' && input.action === 'down') this.#key(input.key, input.modifiers)
    else if (input.type === 'mouse' && input.action === 'down') this.#flush()
  }

  /** Adds the value of a field that was edited, which may consist of several typed texts. */
  addValue(value: string): void {
    this.#flush()
    this.#append(value)
    this.#flush()
  }

  /**
   * Replaces the texts, also where they are encoded for a URL, a form, JSON, HTML or as base64. Short ones are replaced
   * only as whole words, and very short ones not at all, because they are part of many others.
   */
  redact(text: string): string {
    if (this.isEmpty) return text
    return text.replace((this.#pattern ??= patternOf([...this.#texts, this.#current])), redacted)
  }

  #key(key: string, modifiers: number): void {
    if (key === 'Shift' || key === 'AltGraph' || key === 'CapsLock') return
    const isCharacter = [...key].length === 1 && (modifiers & (ctrl | meta)) === 0
    if (isCharacter) this.#append(key)
    else if (key === 'Backspace' && this.#current !== '') {
      this.#current = this.#current.slice(0, -1)
      this.#pattern = undefined
    } else this.#flush()
  }

  /** Adds what follows the host of a URL from the address bar. The host itself would be redacted in too many texts. */
  #addUrl(typed: string): void {
    const rest = typed.trim().replace(/^(?:[a-z][a-z0-9+.-]*:\/\/)?[^/?#]*/i, '')
    const fields = rest.split(/[?#]/).slice(1)
    for (const text of [rest, ...fields.flatMap((part) => [...new URLSearchParams(part).values()])]) this.addValue(text)
  }

  #append(text: string): void {
    this.#current = (this.#current + text).slice(0, maxChars)
    this.#pattern = undefined
  }

  #flush(): void {
    if (this.#current.length >= least) this.#texts.add(this.#current)
    this.#current = ''
    const [oldest] = this.#texts
    if (this.#texts.size > maxTexts) this.#texts.delete(oldest!)
  }
}

/** Returns a pattern that matches the texts in all encodings. */
function patternOf(texts: readonly string[]): RegExp {
  const long = texts.filter(({ length }) => length >= leastInWords)
  const short = texts.filter(({ length }) => length >= least && length < leastInWords)
  const parts = [anyOf(long), `(?<![\\p{L}\\p{N}])${anyOf(short)}(?![\\p{L}\\p{N}])`]
  return new RegExp(parts.join('|'), 'gu')
}

/** Without texts: a pattern that matches nothing. */
const anyOf = (texts: readonly string[]): string => `(?:${spellingsOfAll(texts) || '(?!)'})`

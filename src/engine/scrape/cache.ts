/** Caches the latest scrape results in memory, for requests with `max_age`. */
import type { Caller } from '../../core/access/caller.ts'
import { limits } from '../../core/limits/limits.ts'
import type { ScrapeAnswer, ScrapeInput } from '../../core/shapes/scrape.ts'

interface Entry {
  readonly answer: ScrapeAnswer
  readonly at: number
  readonly size: number
}

export class AnswerCache {
  readonly #entries = new Map<string, Entry>()
  #size = 0

  /** Returns the cached result of an equal request by the same caller, unless it is older than `max_age`. */
  find(input: ScrapeInput, caller: Caller): ScrapeAnswer | undefined {
    if (input.max_age === 0) return undefined
    const entry = this.#entries.get(keyOf(input, caller))
    if (!entry || Date.now() - entry.at > input.max_age) return undefined
    const { data } = entry.answer
    if (!data) return entry.answer
    const metadata = { ...data.metadata, cached_at: new Date(entry.at).toISOString() }
    return { ...entry.answer, data: { ...data, metadata } }
  }

  store(input: ScrapeInput, caller: Caller, answer: ScrapeAnswer): void {
    const key = keyOf(input, caller)
    const size = JSON.stringify(answer).length
    if (size > limits.scrape.cachedChars / 4) return
    this.#drop(key)
    this.#entries.set(key, { answer, at: Date.now(), size })
    this.#size += size
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= limits.scrape.cachedAnswers && this.#size <= limits.scrape.cachedChars) return
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0
    this.#entries.delete(key)
  }
}

/** Returns the cache key: all input that affects the result, which excludes `max_age` and `timeout`. */
const keyOf = (input: ScrapeInput, { keyId }: Caller): string =>
  JSON.stringify([keyId, { ...input, max_age: 0, timeout: 0 }])

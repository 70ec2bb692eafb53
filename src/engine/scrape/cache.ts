/** Answers that may be given again (`max_age`), the latest ones, in memory. */
import type { Caller } from '../../core/access/caller.ts'
import { limits } from '../../core/limits/limits.ts'
import type { ScrapeAnswer, ScrapeInput } from '../../core/shapes/scrape.ts'

interface Kept {
  readonly answer: ScrapeAnswer
  readonly at: number
  readonly size: number
}

export class AnswerCache {
  readonly #kept = new Map<string, Kept>()
  #size = 0

  /** An answer to the same question of the same caller that is not older than the question allows. */
  find(input: ScrapeInput, caller: Caller): ScrapeAnswer | undefined {
    if (input.max_age === 0) return undefined
    const kept = this.#kept.get(keyOf(input, caller))
    if (!kept || Date.now() - kept.at > input.max_age) return undefined
    const { data } = kept.answer
    if (!data) return kept.answer
    const metadata = { ...data.metadata, cached_at: new Date(kept.at).toISOString() }
    return { ...kept.answer, data: { ...data, metadata } }
  }

  keep(input: ScrapeInput, caller: Caller, answer: ScrapeAnswer): void {
    const key = keyOf(input, caller)
    const size = JSON.stringify(answer).length
    if (size > limits.scrape.cachedChars / 4) return
    this.#drop(key)
    this.#kept.set(key, { answer, at: Date.now(), size })
    this.#size += size
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= limits.scrape.cachedAnswers && this.#size <= limits.scrape.cachedChars) return
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    this.#size -= this.#kept.get(key)?.size ?? 0
    this.#kept.delete(key)
  }
}

/** Whatever shapes the answer; how long it may take or how old it may be does not. */
const keyOf = (input: ScrapeInput, { keyId }: Caller): string =>
  JSON.stringify([keyId, { ...input, max_age: 0, timeout: 0 }])

/** Gathers as many results as are wanted from the pages of one provider. */
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import type { Question, ResultPage, SearchProvider } from './provider.ts'
import { unwrapped } from './unwrap.ts'

export interface Collected {
  /** With their own addresses, each once. */
  readonly results: readonly { readonly url: string; readonly title: string; readonly description: string }[]
  readonly warnings: readonly string[]
}

/** Addresses that stand alone in a provider's answer are relative to nothing. */
const base = 'https://search.invalid'

/** @throws BaxError when the first page cannot be had; a later one that fails leaves what there is. */
export async function collect(provider: SearchProvider, question: Question, signal: AbortSignal): Promise<Collected> {
  const found = new Map<string, Collected['results'][number]>()
  const warnings = new Set<string>()
  let next: string | undefined
  for (let page = 0; page < limits.search.pages; page++) {
    const before = found.size
    try {
      const { patienceMs: ms } = provider
      const deadline = { ms, error: `it did not answer within ${ms / 1000} s`, signal, cooperative: true }
      const answer: ResultPage = await withDeadline((limit) => provider.page(question, limit, next), deadline)
      for (const { url, ...texts } of answer.results) {
        const own = unwrapped(url, base)
        const key = own?.replace(/#.*$/, '')
        if (own !== undefined && new URL(own).origin !== base && !found.has(key!))
          found.set(key!, { url: own, ...texts })
      }
      if (answer.warning) warnings.add(answer.warning)
      next = answer.next
    } catch (error) {
      if (page === 0 || signal.aborted || !(error instanceof BaxError)) throw error
      warnings.add(`${provider.name} gave ${found.size} results and no more: ${error.message}`)
      break
    }
    // A page that only repeats the ones before it is the last.
    if (next === undefined || found.size >= question.limit || found.size === before) break
  }
  return { results: [...found.values()].slice(0, question.limit), warnings: [...warnings] }
}

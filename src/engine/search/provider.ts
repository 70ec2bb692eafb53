/** What a search provider is to the engine: something that gives pages of results for a question. */
import type { SearchProviderName } from '../../core/config/search-providers.ts'

/** The last hour, day, week, month or year. */
export type Period = 'h' | 'd' | 'w' | 'm' | 'y'

export interface Question {
  readonly query: string
  /** Results that are wanted in all. */
  readonly limit: number
  /** Language code in lower case. */
  readonly lang?: string
  /** Country code in lower case. */
  readonly country?: string
  readonly period?: Period
}

/** A result as a provider gives it: the address may still be wrapped, the texts are plain. */
export interface Found {
  readonly url: string
  readonly title: string
  readonly description: string
}

export interface ResultPage {
  /** Empty when the provider has found nothing: a provider that could not search fails instead. */
  readonly results: readonly Found[]
  /** What to ask with for the page after this one; absent when there is none. */
  readonly next?: string
  /** What the provider could not do as it was asked. */
  readonly warning?: string
}

/** Whether a page as long as this is likely to have another after it, where the provider does not say. */
export const isFull = ({ length }: readonly Found[]): boolean => length >= 5

export interface SearchProvider {
  readonly name: SearchProviderName
  /** Milliseconds for one page. */
  readonly patienceMs: number
  /**
   * A page of results, the first one without `next`.
   * @throws BaxError that says why there is no answer; `provider_blocked` when the provider takes us for a robot.
   */
  page(question: Question, signal: AbortSignal, next?: string): Promise<ResultPage>
}

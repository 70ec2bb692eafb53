/** Errors for unknown actions: suggest what a common word stands for, else a name of similar spelling. */
import { didYouMean } from '../../../core/errors/suggest.ts'
import { synonymsOf } from '../../../lines/suggestion.ts'
import type { Verbs } from './verbs.ts'

export function unknownVerb(name: string, verbs: Verbs): string {
  const synonym = synonymsOf(name).find((word) => verbs.has(word))
  const near = synonym === undefined ? didYouMean(name, verbs.keys()) : ` (did you mean "${synonym}"?)`
  return `unknown command ${JSON.stringify(name)}${near}`
}

/** Errors for unknown actions: suggest the name behind a spelling of the command line, else one of similar spelling. */
import { catalogue } from '../../../commands/index.ts'
import { didYouMean } from '../../../core/errors/suggest.ts'
import type { Verbs } from './verbs.ts'

export const unknownVerb = (name: string, verbs: Verbs): string =>
  `unknown command ${JSON.stringify(name)}${spelled(name) ?? didYouMean(name, verbs.keys())}`

/** Returns a suggestion for `upload` or `dialog_accept`, which only the command line knows. */
function spelled(typed: string): string | undefined {
  // It also chooses the session, which a script does in its own way.
  if (typed === 'open') return ' (did you mean "navigate_to"?)'
  const wanted = spaced(typed)
  for (const [name, { also = [] }] of catalogue) {
    for (const spelling of also) {
      const { words, data } = typeof spelling === 'string' ? { words: spelling } : spelling
      if (spaced(words) === wanted) return ` (did you mean "${name}${data ? `: ${flow(data)}` : ''}"?)`
    }
  }
  return undefined
}

const spaced = (words: string) => words.replaceAll(/[-_]/g, ' ')

/** Formats fields as YAML in one line. */
const flow = (data: Readonly<Record<string, unknown>>) =>
  `{${Object.entries(data)
    .map(([field, value]) => `${field}: ${JSON.stringify(value)}`)
    .join(', ')}}`

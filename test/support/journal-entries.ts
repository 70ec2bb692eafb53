/** Makes entries of a journal for tests without a browser. */
import type { JournalEntry, TargetFacts } from '../../src/engine/browser/ports/journal.ts'
import { SecretValues } from '../../src/engine/browser/journal/secret-values.ts'
import { withoutSecrets } from '../../src/engine/browser/journal/without-secrets.ts'

type Facts = Partial<TargetFacts> & { readonly tag?: string }

interface Options extends Partial<JournalEntry> {
  readonly elements?: readonly (readonly [selector: string, facts?: Facts])[]
  readonly kinds?: readonly string[]
  readonly isFocusSecret?: boolean
}

const factsOf = (selector: string, { tag = 'input', ...facts }: Facts = {}): TargetFacts => ({
  selector,
  playwright: selector,
  fingerprint: { tag },
  secret: false,
  isLink: false,
  ...facts,
})

/** Returns the entry of a command that succeeded, by default on a page that it does not change. */
export function entryOf(command: string, data: Record<string, unknown>, options: Options = {}): JournalEntry {
  const { elements = [], kinds, isFocusSecret = false, ...more } = options
  const targets = new Map(elements.map(([selector, facts]) => [selector, factsOf(selector, facts)]))
  const used = [...targets.keys()]
  const url = 'about:blank'
  return {
    number: 1,
    command,
    ...withoutSecrets({ command, data }, { targets, used, isFocusSecret, secrets: new SecretValues() }),
    used,
    targets,
    urlBefore: url,
    urlAfter: url,
    tabs: [1, 1],
    dialogs: undefined,
    downloads: [],
    ...(kinds && {
      fields: Object.keys(data['fields'] as object).map((field, at) => ({ field, kind: kinds[at]! })),
    }),
    ...more,
  }
}

/** Expectations for `verify`, from the results of reads. */
import type { CommandCall, CommandResult } from '../../../core/shapes/commands.ts'
import type { Proof, TargetFacts } from '../ports/journal.ts'
import type { TypedText } from '../privacy/typed-text.ts'
import type { SecretValues } from './secret-values.ts'
import { waitGlob } from '../script-recorder/wait-glob.ts'

/** Maximum length of a text that an expectation contains. */
const longest = 200
/** Characters of a text in which an expectation is looked for. */
const searchedChars = 100_000

/** Texts that differ in every run, as times, dates, IDs and long numbers do, and hidden secrets. */
const changing =
  /\d{1,2}:\d{2}|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{5,}|\b(?:today|yesterday|now|ago|just now)\b|\b(?=\w*\d)(?=\w*[a-z])[\w-]{8,}\b|[\w-]{25,}|\*{3}|\[redacted\]/i

interface Known {
  readonly targets: ReadonlyMap<string, TargetFacts>
  readonly secrets: SecretValues
  readonly typed: TypedText
}

/** Returns the proof of a read that succeeded; nothing for results that prove nothing, or differ in every run. */
export function proofOf(
  { command, data: given }: CommandCall,
  { success, data: found }: CommandResult,
  { targets, secrets, typed }: Known,
): { proof?: Proof } {
  const data = given ?? {}
  const read = (found?.['result'] as { value?: unknown } | undefined)?.value
  const isSecret = targets.get(String(data['selector']))?.secret || (typeof read === 'string' && secrets.has(read))
  if (isSecret) return {}
  // The script does not repeat what a person typed.
  const value = typeof read === 'string' ? typed.redact(read.slice(0, searchedChars)) : read
  const proof = success ? proofs[command]?.(value, data) : undefined
  return proof ? { proof } : {}
}

type ProofOf = (value: unknown, data: Readonly<Record<string, unknown>>) => Proof | undefined

const text = (value: unknown) => (typeof value === 'string' ? value : '')

const proofs: Readonly<Record<string, ProofOf>> = {
  get_title: (value) => {
    const title = text(value)
    return title === '' || title.length > longest || changing.test(title) ? undefined : { title }
  },
  get_url: (value) => {
    const url = waitGlob(text(value))
    return url === undefined ? undefined : { url }
  },
  get_text: (value, { selector }) => {
    const stable = stableText(text(value))
    return stable === undefined ? undefined : { selector, text: stable }
  },
  get_value: (value, { selector }) => {
    const read = text(value)
    return read.length > longest || changing.test(read) ? undefined : { selector, value: read }
  },
  get_state: (value, { selector, state }) => {
    if (typeof value === 'boolean') return typeof state === 'string' ? stateProof(selector, state, value) : undefined
    const { visible, checked } = value as { visible?: boolean; checked?: boolean | null }
    if (typeof checked === 'boolean') return stateProof(selector, 'checked', checked)
    return stateProof(selector, 'visible', visible === true)
  },
  count_elements: (value, { selector }) => ({ selector, count: value }),
}

const opposites: Readonly<Record<string, string>> = {
  visible: 'hidden',
  hidden: 'visible',
  enabled: 'disabled',
  disabled: 'enabled',
  checked: 'unchecked',
}

function stateProof(selector: unknown, state: string, isSo: boolean): Proof | undefined {
  const seen = isSo ? state : opposites[state]
  return seen === undefined ? undefined : { selector, state: seen }
}

/** Returns the longest part of a text that does not differ in every run. */
function stableText(shown: string): string | undefined {
  const parts = shown
    .split('\n')
    .flatMap((line) => line.split(new RegExp(changing, 'gi')))
    .map((part) => part.replaceAll(/\s+/g, ' ').trim())
    .filter((part) => part.length <= longest && /\p{L}|\d/u.test(part))
  const [best] = parts.toSorted((a, b) => b.length - a.length)
  return best
}

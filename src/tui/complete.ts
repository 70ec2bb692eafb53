/** Tab completion for lines of browser commands. */
import type { Param } from '../core/operation/params.ts'
import type { Observation } from '../core/shapes/observe.ts'
import type { CommandEntry } from '../operations/manifest.ts'
import { quoteWord, splitWords } from '../core/text/shell-words.ts'

/** An element of the page that commands can refer to. */
export type KnownElement = Pick<NonNullable<Observation['elements']>[number], 'ref' | 'role' | 'name'>

const kebab = (name: string): string => name.replaceAll('_', '-')

/**
 * Completes the line up to the cursor. `text` is that line with the first candidate, or null without one; `hint`
 * describes what is expected.
 */
export function completeLine(before: string, commands: readonly CommandEntry[], elements: readonly KnownElement[]) {
  const { words, lastAt } = splitWords(before)
  const isNew = lastAt === before.length
  const current = isNew ? '' : words.at(-1)!
  const done = isNew ? words : words.slice(0, -1)
  const segment = done.slice(done.lastIndexOf('then') + 1)
  const entry = segment[0] === undefined ? undefined : findCommand(segment[0], commands)
  const typed = entry ?? (segment[0] === undefined ? findCommand(current, commands) : undefined)
  const candidates = candidatesOf(segment, entry, commands, elements).filter(
    (word) => word.startsWith(current) && word !== current,
  )
  const first = candidates[0]
  const text = first === undefined ? null : `${before.slice(0, lastAt)}${quoteWord(first)} `
  return { text, candidates, hint: hintOf(segment, typed, candidates, elements) }
}

const findCommand = (word: string, commands: readonly CommandEntry[]): CommandEntry | undefined =>
  commands.find(({ name }) => name === word.replaceAll('-', '_'))

function candidatesOf(
  segment: readonly string[],
  entry: CommandEntry | undefined,
  commands: readonly CommandEntry[],
  elements: readonly KnownElement[],
): string[] {
  if (segment.length === 0) return commands.map(({ name }) => kebab(name))
  if (!entry) return []
  const flag = entry.params.find(({ name, required }) => !required && segment.at(-1) === `--${kebab(name)}`)
  if (flag && flag.type !== 'boolean') return [...(flag.choices ?? [])]
  const unused = entry.params
    .filter(({ name, required }) => !required && !segment.includes(`--${kebab(name)}`))
    .map(({ name }) => `--${kebab(name)}`)
  const next = nextWord(segment, entry)
  if (!next) return ['then', ...unused]
  const values = next.name === 'selector' ? elements.map(({ ref }) => `ref=${ref}`) : (next.choices ?? [])
  return [...values, ...unused]
}

/** Returns the required field that the next word is for; undefined when all are given. */
function nextWord(segment: readonly string[], entry: CommandEntry): Param | undefined {
  let count = 0
  for (let at = 1; at < segment.length; at += 1) {
    const flag = entry.params.find(({ name }) => segment[at] === `--${kebab(name)}`)
    if (!flag) count += 1
    else if (flag.type !== 'boolean') at += 1
  }
  return entry.params.filter(({ required }) => required)[count]
}

function hintOf(
  segment: readonly string[],
  entry: CommandEntry | undefined,
  candidates: readonly string[],
  elements: readonly KnownElement[],
): string {
  if (!entry) return candidates.slice(0, 12).join('  ')
  const words = entry.params.map(({ name, required, type }) =>
    required ? `<${kebab(name)}>` : `[--${kebab(name)}${type === 'boolean' ? '' : ' …'}]`,
  )
  const ref = candidates.find((word) => word.startsWith('ref='))
  const element = ref && segment.length > 0 && elements.find((known) => `ref=${known.ref}` === ref)
  const what = element ? `${ref}: ${element.role} ${JSON.stringify(element.name)}` : entry.summary
  return `${kebab(entry.name)} ${words.join(' ')} — ${what}`
}

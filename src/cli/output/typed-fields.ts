/** Names the fields of an error as they were typed: `limit must be at least 1` is `--limit must be at least 1, not 0`. */
import { mappingOf } from '../../core/text/is-mapping.ts'
import { type BaxError, truncate } from '../../core/errors/errors.ts'
import { formatFieldError } from '../../core/errors/input-errors.ts'
import type { Param } from '../../core/operation/params.ts'
import type { CommandEntry, Manifest } from '../../operations/manifest.ts'
import { segments } from '../../lines/batch.ts'
import { commandsNamed } from '../../lines/named-commands.ts'
import { commandTable } from '../parse/command-table.ts'
import type { Invocation } from '../parse/invocation.ts'
import { flagOf, kebab } from '../../lines/values.ts'

/** A command line of which the engine rejected a field. */
export type TypedLine = Pick<Invocation, 'words' | 'argv' | 'manifest'>

/** Returns the message of an error with the flags and words of the command line instead of field names. */
export function spellFields({ message, details, input }: BaxError, line: TypedLine): string {
  if (!Array.isArray(details)) return message
  return details.map(mappingOf).reduce((text, { path, message: fault }) => {
    const label = typeof path === 'string' ? labelOf(path, line) : undefined
    if (typeof path !== 'string' || typeof fault !== 'string' || label === undefined) return text
    const typed = fault.replaceAll(/\bsession_id\b/g, '--session')
    const spelled = formatFieldError({ path: label, message: typed + valueText(fault, valueAt(input, path)) })
    return text.replace(formatFieldError({ path, message: fault }), () => spelled)
  }, message)
}

/** Returns the flag or word that sets a field; undefined if neither does, as with JSON on standard input. */
function labelOf(path: string, { words, argv, manifest }: TypedLine): string | undefined {
  const isBatch = words === 'do' || words === 'step'
  if (isBatch && path.startsWith('commands[')) return labelInBatch(path, argv, manifest)
  const params = manifest.operations.flatMap((operation) => operation.params)
  const syntax = commandTable(manifest).find((entry) => entry.words === words)?.rest ?? ''
  return labelOfField(path, argv, params, (name) => new RegExp(`[<[]${kebab(name)}\\W`).test(syntax))
}

/** Returns the flag or word of one command of a batch, after the name of the command if there are several. */
function labelInBatch(path: string, argv: readonly string[], manifest: Manifest): string | undefined {
  const [, index, field] = /^commands\[(\d+)\]\.data\.(.*)$/.exec(path) ?? []
  const parts = segments(argv)
  const part = parts[Number(index)] ?? []
  if (field === undefined) return undefined
  for (const { name: command, params } of commandsOf(part, manifest)) {
    const place = parts.length > 1 ? `${kebab(command)} (${Number(index) + 1} of ${parts.length}): ` : ''
    const label = labelOfField(field, part, params, (name) => params.some((one) => one.name === name))
    if (label !== undefined) return place + label
  }
  return undefined
}

/** Returns the commands that a part of a batch can name by its first one or two words that are a name or a spelling. */
function commandsOf(part: readonly string[], manifest: Manifest): CommandEntry[] {
  const names = part.flatMap((word, at) => [`${word} ${part[at + 1] ?? ''}`, word])
  const named = names.map((name) => commandsNamed(name, manifest)).find((found) => found.length > 0)
  return (named ?? []).map(({ entry }) => entry)
}

/** Fields with flags that are not named after them. */
const otherFlags: Readonly<Record<string, readonly string[]>> = {
  method: ['-X', '--method'],
  headers: ['-H', '--header'],
  cookies: ['--cookie', '--cookies'],
}

/** Returns which of the other flags of a field was typed. */
const otherFlag = (name: string, argv: readonly string[]): string | undefined =>
  otherFlags[name]?.find((flag) =>
    argv.some((word) => (flag.startsWith('--') ? word.replace(/=.*$/s, '') === flag : word.startsWith(flag))),
  )

/** Returns the label of the first part of a path that was typed: of `observe.limit`, that is `--limit`. */
function labelOfField(
  path: string,
  argv: readonly string[],
  params: readonly Param[],
  isWord: (name: string) => boolean,
): string | undefined {
  for (const { 0: name, index } of path.matchAll(/[a-z]\w*/gi)) {
    const rest = path.slice(index + name.length).replace(/^\./, ': ')
    const typed = params.find((param) => param.name === name && isTyped(param, argv))
    const flag = otherFlag(name, argv) ?? (typed && flagOf(typed))
    if (flag !== undefined) return flag + rest
    if (isWord(name)) return `<${kebab(name)}>${rest}`
  }
  return undefined
}

/** Checks if a flag is on the command line, in any of its spellings. */
function isTyped({ name, flag = name, aliases = [], short }: Param, argv: readonly string[]): boolean {
  const flags = new Set([name, flag, ...aliases].map((spelling) => `--${kebab(spelling)}`))
  return argv.some(
    (word) => flags.has(word.replace(/=.*$/s, '')) || (short !== undefined && isShort(word) && word.includes(short)),
  )
}

/** Whether a word is one or several flags of one letter, such as `-k` or `-ik`. */
const isShort = (word: string): boolean => /^-[A-Za-z]+$/.test(word)

/** Returns the value of a field path such as `viewport.width`. */
const valueAt = (input: unknown, path: string): unknown =>
  path
    .match(/\w+/g)
    ?.reduce<unknown>(
      (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
      input,
    )

/** Maximum length of a quoted value, in characters. */
const maxChars = 100

/** Returns `, not 0` after a fault such as `must be at least 1`, and `: "x y"` after `is not a URL`. */
function valueText(fault: string, value: unknown): string {
  if (fault === 'is not a URL') return `: ${JSON.stringify(truncate(String(value), maxChars))}`
  if (!fault.startsWith('must be ')) return ''
  if (typeof value === 'string') return `, not ${JSON.stringify(truncate(value, maxChars))}`
  return typeof value === 'number' || typeof value === 'boolean' ? `, not ${value}` : ''
}

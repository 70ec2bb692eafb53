/**
 * Parses the plain ways of typing a batch without commander, whose loading would be a tenth of a one-liner's time.
 * Whatever is not plainly right is left to commander, with its help and its advice; both give the same batch.
 */
import type { Param } from '../core/params.ts'
import type { CommandEntry, Manifest } from '../operations/manifest.ts'
import {
  batchParams,
  findEntry,
  joinBatches,
  optionalOf,
  requiredOf,
  segments,
  toCommand,
  type TypedBatch,
} from './batch.ts'
import { attributeOf, kebab, type Typed } from './values.ts'

const text = (name: string): Param => ({ name, type: 'string', required: false })
const common: readonly Param[] = [
  ...['session', 'output', 'server', 'state_dir', 'browser'].map(text),
  ...['json', 'embedded'].map((name): Param => ({ name, type: 'boolean', required: false, default: false })),
]
const short: Readonly<Record<string, string>> = { '-s': '--session', '-o': '--output' }

/** The batch, or undefined when commander must look at it. */
export function quickBatch(argv: readonly string[], manifest: Manifest, cwd: string): TypedBatch | undefined {
  const parts: TypedBatch[] = []
  for (const [word, ...rest] of segments(argv)) {
    const entry = word === undefined ? undefined : findEntry(word, manifest)
    const typed = entry && typedWords(rest, entry, manifest)
    if (!entry || !typed) return undefined
    parts.push(toCommand(entry, typed, cwd))
  }
  return joinBatches(parts)
}

function typedWords(argv: readonly string[], entry: CommandEntry, manifest: Manifest): Typed | undefined {
  const known = [...common, ...batchParams(manifest), ...optionalOf(entry)]
  const flags: Record<string, unknown> = {}
  const words: string[] = []
  for (let index = 0; index < argv.length; index += 1) {
    const typed = argv[index]!
    if (!typed.startsWith('-')) {
      words.push(typed)
      continue
    }
    const flag = short[typed] ?? typed
    // The last of two of the same name is the command's own.
    const param = known.findLast(({ name }) => flag === `--${kebab(name)}` || flag === `--no-${kebab(name)}`)
    if (!param) return undefined
    if (param.type === 'boolean') {
      const on = !flag.startsWith('--no-')
      if (param.default === on) return undefined
      flags[attributeOf(param)] = on
      continue
    }
    index += 1
    const value = argv[index]
    if (value === undefined || value.startsWith('-') || flag.startsWith('--no-')) return undefined
    const before = flags[attributeOf(param)] as string[] | undefined
    flags[attributeOf(param)] = param.type === 'string[]' ? [...(before ?? []), value] : value
  }
  return fitWords(words, entry, flags)
}

function fitWords(words: readonly string[], entry: CommandEntry, flags: Typed['flags']): Typed | undefined {
  const required = requiredOf(entry)
  const last = required.length - 1
  if (required[last]?.type !== 'string[]') return words.length === required.length ? { words, flags } : undefined
  return words.length > last ? { words: [...words.slice(0, last), words.slice(last)], flags } : undefined
}

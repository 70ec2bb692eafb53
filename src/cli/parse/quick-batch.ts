/**
 * Parses simple batches without commander. Returns undefined for everything else, including errors, which commander
 * handles. Both parsers return the same batch.
 */
import type { Param } from '../../core/operation/params.ts'
import type { CommandEntry, Manifest } from '../../operations/manifest.ts'
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
import { globalParams, plainWords, textFlag } from './quick-parse.ts'
import type { TypedArguments } from './values.ts'

const common: readonly Param[] = [textFlag('session'), textFlag('output'), ...globalParams]

/** Returns the batch, or undefined if commander has to parse it. */
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

function typedWords(argv: readonly string[], entry: CommandEntry, manifest: Manifest): TypedArguments | undefined {
  const typed = plainWords(argv, [...common, ...batchParams(manifest), ...optionalOf(entry)])
  return typed && fitWords(typed.words, entry, typed.flags)
}

function fitWords(
  words: readonly string[],
  entry: CommandEntry,
  flags: TypedArguments['flags'],
): TypedArguments | undefined {
  const required = requiredOf(entry)
  const last = required.length - 1
  if (required[last]?.type !== 'string[]') return words.length === required.length ? { words, flags } : undefined
  return words.length > last ? { words: [...words.slice(0, last), words.slice(last)], flags } : undefined
}

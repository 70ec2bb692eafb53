/**
 * The lists of operations and commands as plain data, without schemas or code.
 * The build writes them next to the bundle, so that a one-liner starts without loading zod.
 */
import { z } from 'zod'
import { commands } from '../commands/index.ts'
import type { Command, PositionalForms, Spelling } from '../core/operation/command.ts'
import { examplesOf } from '../core/operation/examples.ts'
import type { EngineNeed, HttpOperation, Operation, Show } from '../core/operation/operation.ts'
import { plainTemplate } from '../core/operation/route.ts'
import type { Param } from '../core/operation/params.ts'
import { paramsOf } from '../core/operation/schema-params.ts'
import { operations, streams, transfers } from './index.ts'

export interface OperationEntry {
  readonly name: string
  readonly summary: string
  readonly description?: string
  readonly http: string
  readonly cli: string | null
  /** Command lines. */
  readonly examples: readonly string[]
  readonly show?: Show
  readonly engine?: EngineNeed
  readonly usesDefaultSession?: true
  readonly params: readonly Param[]
  /** Whether the response is a stream of frames. */
  readonly stream?: true
  /** Whether the response or the body is raw bytes. */
  readonly transfer?: 'download' | 'upload'
}

export interface CommandEntry {
  readonly name: string
  readonly family: string
  readonly kind: 'action' | 'extraction'
  readonly summary: string
  readonly also?: readonly Spelling[]
  readonly positional?: PositionalForms
  /** Arguments after the name. */
  readonly examples: readonly string[]
  /** Columns of the table that shows a list in the result. */
  readonly table?: { readonly items?: string; readonly columns: readonly string[] }
  /** Field of the result with base64 data, such as an image. */
  readonly bytes?: string
  /** Field of the result of an action that the terminal prints. */
  readonly prints?: string
  /** Field with files of the session, where the command line accepts local files. */
  readonly localFiles?: string
  /** Field of the result with the name of a file of the session. */
  readonly stores?: string
  /** Whether the result is a single value, or an object; absent when the command reports nothing. */
  readonly returns?: 'value' | 'object'
  readonly params: readonly Param[]
}

export interface Manifest {
  readonly operations: readonly OperationEntry[]
  readonly commands: readonly CommandEntry[]
}

export function makeManifest(): Manifest {
  return {
    operations: [
      ...Object.entries<Operation>(operations).map(([name, operation]) => ({
        ...entryOf(name, operation),
        ...(operation.show && { show: operation.show }),
      })),
      ...Object.entries(streams).map(([name, stream]) => ({ ...entryOf(name, stream), stream: true as const })),
      ...Object.entries(transfers).map(([name, transfer]) => ({
        ...entryOf(name, transfer),
        transfer: 'open' in transfer ? ('download' as const) : ('upload' as const),
      })),
    ],
    commands: Object.entries(commands).flatMap(([family, members]) =>
      Object.entries<Command>(members).map(([name, command]) => commandEntryOf(name, family, command)),
    ),
  }
}

function commandEntryOf(name: string, family: string, command: Command): CommandEntry {
  const { kind, summary, also, positional, example, table, bytes, prints, localFiles, stores, data, result } = command
  return {
    name,
    family,
    kind,
    summary,
    ...(also && { also: also.map((spelling) => (typeof spelling === 'string' ? { words: spelling } : spelling)) }),
    ...(positional && { positional }),
    examples: examplesOf(example),
    ...(table && { table }),
    ...(bytes && { bytes }),
    ...(prints && { prints }),
    ...(localFiles && { localFiles }),
    ...(stores && { stores }),
    ...(result && { returns: isValue(result) ? 'value' : 'object' }),
    params: paramsOf(data),
  }
}

/** Whether a result has nothing but a value with its type. */
export const isValue = (result: z.ZodType): boolean =>
  result instanceof z.ZodObject && Object.keys(result.shape).join() === 'result'

function entryOf(name: string, operation: HttpOperation): OperationEntry {
  return {
    name,
    summary: operation.summary,
    ...(operation.description && { description: operation.description }),
    http: plainTemplate(operation.http),
    cli: operation.cli ?? null,
    examples: examplesOf(operation.example),
    ...(operation.engine && { engine: operation.engine }),
    ...(operation.usesDefaultSession && { usesDefaultSession: true }),
    params: paramsOf(operation.input),
  }
}

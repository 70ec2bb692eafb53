/** Converts the arguments of `bax shell exec` to a request. */
import { listedWords, textFlag, textFlags } from '../../lines/typed.ts'
import type { Command } from 'commander'
import { type Unchecked, uncheckedFields } from '../../client/calls.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { Param } from '../../core/operation/params.ts'
import type { Manifest } from '../../operations/manifest.ts'
import { operationNamed } from '../context.ts'
import { addParam, addShellFlag } from '../../lines/flags.ts'
import { type Io, readStdin } from '../io.ts'
import { fileText, flagValue, type TypedArguments } from '../../lines/values.ts'
import { addVariables, variablesOf } from './variables.ts'

/** Fields that are flags, by operation. */
const flags = {
  shellExecStream: ['language', 'cwd', 'timeout_secs', 'max_output_bytes', 'user'],
  createShell: ['image', 'network', 'limits'],
} as const

type Source = keyof typeof flags

const paramsFrom = (manifest: Manifest, source: Source): Param[] =>
  flags[source].map((name) => {
    const { default: _, ...param } = operationNamed(manifest, source).params.find((param) => param.name === name)!
    return param
  })

export function addExecFlags(command: Command, manifest: Manifest): void {
  command.passThroughOptions()
  command.argument(
    '[command...]',
    'shell command line, or program and arguments; - for a program on standard input; flags come first',
  )
  addShellFlag(command)
  command.option('-c, --code <text|@file>', 'program to run, written in --language')
  for (const param of paramsFrom(manifest, 'shellExecStream')) addParam(command, param)
  addVariables(command)
  command.option('-n, --no-stdin', 'do not read standard input')
  command.option('-t, --tty', 'run in a terminal')
  command.option('-d, --background', 'print the ID of the command without waiting for it')
  command.option('-o, --output <folder>', 'folder for the output files of the command')
  for (const param of paramsFrom(manifest, 'createShell')) addParam(command, param)
}

export interface ExecRequest {
  /** Fields of the command without its session. */
  readonly body: Unchecked
  /** Fields of the session to create. */
  readonly shell: Unchecked
  readonly withStdin: boolean
  readonly isTerminal: boolean
  readonly isBackground: boolean
  readonly output: string | undefined
}

/** Reads the arguments. @throws BaxError `invalid_request` for conflicting ones */
export async function readExec(
  typed: TypedArguments,
  manifest: Manifest,
  io: Io,
  session: string | undefined,
): Promise<ExecRequest> {
  const value = (source: Source) =>
    Object.fromEntries(
      paramsFrom(manifest, source)
        .map((param) => [param.name, flagValue(param, typed.flags, io.cwd)] as const)
        .filter(([, given]) => given !== undefined),
    )
  const options = value('shellExecStream')
  const shell = value('createShell')
  const env = variablesOf(textFlags(typed.flags, 'env'), io)
  const program = await programOf(typed, io)
  const { tty, background } = typed.flags
  const [first] = Object.keys(shell)
  if (session !== undefined && first !== undefined)
    throw new BaxError('invalid_request', `--${first} applies to new sessions only`)
  if (session === undefined && background) {
    throw new BaxError('invalid_request', '--background needs a session that outlives the command', {
      hint: 'name one with -s, or run "bax shell create"',
    })
  }
  if (background && tty) throw new BaxError('invalid_request', '--background and --tty exclude each other')
  return {
    body: uncheckedFields({ ...program.fields, ...options, ...(env && { env }) }),
    shell: uncheckedFields({
      ...shell,
      ...(options['language'] !== undefined && { language: options['language'] }),
    }),
    withStdin: !program.readStdin && typed.flags['stdin'] !== false,
    isTerminal: tty === true,
    isBackground: background === true,
    output: textFlag(typed.flags, 'output'),
  }
}

/** Returns the fields of the program. `readStdin`: it was read from standard input. */
async function programOf(
  { words, flags }: TypedArguments,
  io: Io,
): Promise<{ fields: Record<string, unknown>; readStdin: boolean }> {
  const given = listedWords(words, 0)
  const code = textFlag(flags, 'code')
  if (code !== undefined && given.length > 0)
    throw new BaxError('invalid_request', '--code cannot be combined with a command')
  if (code !== undefined)
    return { fields: { code: code.startsWith('@') ? fileText(code, '--code', io.cwd) : code }, readStdin: false }
  const [only] = given
  if (only === undefined)
    throw new BaxError('invalid_request', 'no command was given', { hint: 'run "bax shell exec -s ID -- ls -la"' })
  if (given.length > 1) return { fields: { argv: given }, readStdin: false }
  if (only !== '-') return { fields: { command: only }, readStdin: false }
  const text = await readStdin(io)
  if (text === '') throw new BaxError('invalid_request', 'standard input is empty')
  return { fields: { code: text }, readStdin: true }
}

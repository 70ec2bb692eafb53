/** What was typed after `bax shell exec`, as a request. */
import type { Command } from 'commander'
import { BaxError } from '../../core/errors/errors.ts'
import type { Param } from '../../core/operation/params.ts'
import type { Manifest } from '../../operations/manifest.ts'
import { operationNamed } from '../context.ts'
import { addParam, addShellFlag } from '../parse/flags.ts'
import { type Io, readStdin } from '../io.ts'
import { fileText, flagValue, type Typed } from '../parse/values.ts'
import { addVariables, variablesOf } from './variables.ts'

/** Fields that have flags of their own here, by the operation that has them. */
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
    'one word is a line for a shell, several are a program and its arguments, - reads a program; flags stand before it',
  )
  addShellFlag(command)
  command.option('-c, --code <text|@file>', 'program in --language')
  for (const param of paramsFrom(manifest, 'shellExecStream')) addParam(command, param)
  addVariables(command)
  command.option('-n, --no-stdin', 'leave standard input alone')
  command.option('-t, --tty', 'run in a terminal')
  command.option('-d, --background', 'print the id of the command and leave it running')
  command.option('-o, --output <folder>', 'save what the command leaves in the output mounts here')
  for (const param of paramsFrom(manifest, 'createShell')) addParam(command, param)
}

export interface ExecRequest {
  /** Fields of the command, without its session. */
  readonly body: Readonly<Record<string, unknown>>
  /** Fields of a session of its own. */
  readonly shell: Readonly<Record<string, unknown>>
  readonly withStdin: boolean
  readonly isTerminal: boolean
  readonly isBackground: boolean
  readonly output: string | undefined
}

/** @throws BaxError `invalid_request` for what does not go together. */
export async function readExec(
  typed: Typed,
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
  const how = value('shellExecStream')
  const shell = value('createShell')
  const env = variablesOf(typed.flags['env'], io)
  const what = await program(typed, io)
  const { tty, background, output } = typed.flags as { tty?: boolean; background?: boolean; output?: string }
  const [first] = Object.keys(shell)
  if (session !== undefined && first !== undefined)
    throw new BaxError('invalid_request', `--${first} is for a session of its own; this one is made already`)
  if (session === undefined && background) {
    throw new BaxError('invalid_request', '--background needs a session that stays', {
      hint: 'name one with -s; `bax shell create` makes one',
    })
  }
  if (background && tty) throw new BaxError('invalid_request', '--background and --tty do not go together')
  return {
    body: { ...what.fields, ...how, ...(env && { env }) },
    shell: { ...shell, ...(how['language'] !== undefined && { language: how['language'] }) },
    withStdin: !what.readStdin && typed.flags['stdin'] !== false,
    isTerminal: tty === true,
    isBackground: background === true,
    output,
  }
}

/** The program itself; `readStdin`: it came by standard input, which is used up. */
async function program(
  { words, flags }: Typed,
  io: Io,
): Promise<{ fields: Record<string, unknown>; readStdin: boolean }> {
  const given = (words[0] ?? []) as readonly string[]
  const code = flags['code'] as string | undefined
  if (code !== undefined && given.length > 0)
    throw new BaxError('invalid_request', '--code is the program; words beside it have no meaning')
  if (code !== undefined) return { fields: { code: code.startsWith('@') ? fileText(code, '--code', io.cwd) : code }, readStdin: false } // prettier-ignore
  const [only] = given
  if (only === undefined)
    throw new BaxError('invalid_request', 'no command was given', { hint: 'bax shell exec -s ID -- ls -la' })
  if (given.length > 1) return { fields: { argv: given }, readStdin: false }
  if (only !== '-') return { fields: { command: only }, readStdin: false }
  const text = await readStdin(io)
  if (text === '') throw new BaxError('invalid_request', 'standard input holds no program')
  return { fields: { code: text }, readStdin: true }
}

/** Environment variables as they are typed: `-e NAME=value`, or `-e NAME` for the one of this terminal. */
import type { Command } from 'commander'
import { BaxError } from '../../core/errors/errors.ts'
import type { Io } from '../io.ts'

export const addVariables = (command: Command): Command =>
  command.option(
    '-e, --env <name[=value]>',
    'environment variable; without a value that of this terminal; can be repeated',
    (text: string, before: string[] = []) => [...before, text],
  )

/** @throws BaxError `invalid_request` for what names no variable. */
export function variablesOf(given: unknown, { env }: Io): Record<string, string> | undefined {
  if (given === undefined) return undefined
  const pairs = (given as readonly string[]).map((text) => {
    const at = text.indexOf('=')
    const name = at === -1 ? text : text.slice(0, at)
    const value = at === -1 ? env[name] : text.slice(at + 1)
    if (name !== '' && value !== undefined) return [name, value] as const
    const why = name === '' ? 'has no name' : 'is not set here: give it a value, NAME=value'
    throw new BaxError('invalid_request', `--env ${text} ${why}`)
  })
  return Object.fromEntries(pairs)
}

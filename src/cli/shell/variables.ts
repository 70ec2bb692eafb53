/** Environment variable flags: `-e NAME=value`, or `-e NAME` for the value in this terminal. */
import type { Command } from 'commander'
import { BaxError } from '../../core/errors/errors.ts'
import type { Io } from '../io.ts'
import { collect } from '../../lines/flags.ts'

export const addVariables = (command: Command): Command =>
  command.option(
    '-e, --env <name[=value]>',
    'environment variable, by default its value here; may be repeated',
    collect,
  )

/** Returns the variables. @throws BaxError `invalid_request` for a missing name or value */
export function variablesOf(given: readonly string[], { env }: Io): Record<string, string> | undefined {
  if (given.length === 0) return undefined
  const pairs = given.map((text) => {
    const at = text.indexOf('=')
    const name = at === -1 ? text : text.slice(0, at)
    const value = at === -1 ? env[name] : text.slice(at + 1)
    if (name !== '' && value !== undefined) return [name, value] as const
    const why = name === '' ? 'has no name' : 'is not set here: pass NAME=value'
    throw new BaxError('invalid_request', `--env ${text} ${why}`)
  })
  return Object.fromEntries(pairs)
}

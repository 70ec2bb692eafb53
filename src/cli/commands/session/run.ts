/** `bax run`: runs scripts of browser steps. */
import { BaxError } from '../../../core/errors/errors.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { collect } from '../../parse/flags.ts'
import { print } from '../../io.ts'
import type { RunOptions } from '../../run/index.ts'

type Flags = Pick<RunOptions, 'artifacts' | 'check' | 'failFast' | 'strict' | 'updateSnapshots'> &
  Partial<Record<'parallel' | 'retries' | 'shard', string>> &
  Partial<Record<'reporter' | 'var', string[]>> & { schema?: boolean }

export const command: TerminalCommand = async (invocation) => {
  const { context, typed } = parseInvocation(invocation, (command) => {
    command.argument('[scripts...]', 'YAML or JSON files, folders or globs')
    command.option('--parallel <number>', 'number of concurrent scripts, each with its own session (default 1)')
    command.option('--reporter <name[=file],...>', 'reporters: line, json, ndjson, junit or html', collect)
    command.option('--artifacts <folder>', 'folder for screenshots, HTML, logs and trace of failing scripts')
    command.option('--var <name=value>', 'variable for the scripts; may be repeated', collect)
    command.option('--check', 'check the scripts for errors without running them')
    command.option('--schema', 'print the JSON Schema of scripts, for editors')
    command.option('--fail-fast', 'do not start further scripts after a failure')
    command.option('--retries <number>', 'number of retries of a failed script')
    command.option('--shard <i/n>', 'part of the scripts to run: the i-th of n')
    command.option('--strict', 'fail when a selector matches several elements')
    command.option('--update-snapshots', 'replace the screenshots that are compared with')
  })
  const flags = typed.flags as Flags
  const files = (typed.words[0] ?? []) as readonly string[]
  const run = await import('../../run/index.ts')
  if (flags.schema) return print(context.io, await run.scriptSchemaText())
  if (files.length === 0)
    throw new BaxError('invalid_request', 'no script was given', { hint: 'run "bax run script.yaml"' })
  const { parseReporters } = await import('../../run/reporters/index.ts')
  const { parseShard } = await import('../../run/files.ts')
  const options = {
    ...flags,
    files,
    vars: parseVars(flags.var ?? []),
    reporters: parseReporters(flags.reporter ?? (context.settings.json ? ['json'] : [])),
    parallel: wholeNumber('--parallel', flags.parallel, 1) ?? 1,
    retries: wholeNumber('--retries', flags.retries, 0) ?? 0,
    shard: flags.shard === undefined ? undefined : parseShard(flags.shard),
  }
  return run.runScripts(options, context)
}

function parseVars(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const end = text.indexOf('=')
      if (end < 1) throw new BaxError('invalid_request', `--var must be name=value, not ${JSON.stringify(text)}`)
      return [text.slice(0, end), text.slice(end + 1)]
    }),
  )
}

function wholeNumber(flag: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= least && value <= 1000) return value
  throw new BaxError(
    'invalid_request',
    `${flag} must be a whole number from ${least} to 1000, not ${JSON.stringify(text)}`,
  )
}

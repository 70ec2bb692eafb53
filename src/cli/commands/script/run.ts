/** `bax run`: runs scripts of browser steps. */
import { listedWords } from '../../../lines/typed.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { Param } from '../../../core/operation/params.ts'
import { operationNamed } from '../../context.ts'
import { type Invocation, parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { addParam, collect } from '../../../lines/flags.ts'
import { flagValue } from '../../../lines/values.ts'
import { print } from '../../io.ts'
import type { RunOptions } from '../../run/options.ts'

type Flags = Pick<
  RunOptions,
  | 'allowHandoff'
  | 'artifacts'
  | 'check'
  | 'failFast'
  | 'headed'
  | 'replay'
  | 'strict'
  | 'update'
  | 'updateSnapshots'
  | 'watch'
> &
  Partial<Record<'parallel' | 'retries' | 'shard', string>> &
  Partial<Record<'reporter' | 'var', string[]>> & { schema?: boolean }

const about = `A script is a YAML file with a list of steps. They are the commands of "bax do --help", with "_" or "-":

  steps:
    - navigate_to: https://example.com
    - click: a
    - get_title:
      expect: {contains: Example}

Each script runs in a new session, unless it names one. Exit codes: 0 all scripts passed, 1 a script failed, 2 a script is invalid and nothing was run.`

export const command: TerminalCommand = {
  cli: 'run <script> …',
  summary: 'Run scripts of browser steps',
  example: [
    'bax run login.yaml',
    'bax run login.yaml --watch --headed --var user=ann',
    'bax run flows/ --check',
    'bax run shop/*.yaml --parallel 4 --reporter line,junit=report.xml',
  ],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.description(`${invocation.summary}\n\n${about}`)
      command.argument('[scripts...]', 'YAML or JSON files, folders or globs; "-" reads standard input')
      command.option('--check', 'check the scripts for errors without running them; needs no environment variables')
      command.option('--watch', 'run scripts again when they or the files they include change')
      command.option('--headed', 'show the browser in a window; without a display it stays hidden')
      addParam(command, confirmParam(invocation))
      command.option('--allow-handoff', 'let steps ask a person to take over, and wait for them')
      command.option('--var <name=value>', 'value of ${vars.name} in the scripts; may be repeated', collect)
      command.option(
        '--reporter <name[=file],...>',
        'reports to write: line, json, ndjson, junit or html (default line, or json with --json)',
        collect,
      )
      command.option('--artifacts <folder>', 'folder for screenshots, HTML, logs, trace and replay of failing scripts')
      command.option('--replay <file>', 'file for the replay of the session, or folder ending in / for several')
      command.option('--parallel <number>', 'number of scripts to run at once, each with its own session (default 1)')
      command.option('--fail-fast', 'start no further scripts after a failure')
      command.option('--retries <number>', 'number of times to run a failed script again (default 0)')
      command.option('--shard <i/n>', 'run only a part of the scripts, such as 1/3 on the first of three machines')
      command.option('--strict', 'fail when a selector matches several elements, or nothing despite a fingerprint')
      command.option('--update', 'rewrite selectors of recorded steps whose elements were found by fingerprint')
      command.option('--update-snapshots', 'replace the stored screenshots of "expect: {screenshot: …}"')
      command.option('--schema', 'print the JSON Schema of scripts, for editors')
    })
    const flags = typed.flags as Flags
    const files = listedWords(typed.words, 0)
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
      confirm: flagValue(confirmParam(invocation), typed.flags, context.io.cwd) as RunOptions['confirm'],
      shard: flags.shard === undefined ? undefined : parseShard(flags.shard),
    }
    return run.runScripts(options, context)
  },
}

/** Returns the flag for actions that wait for a person, as the operation declares it. */
const confirmParam = ({ manifest }: Pick<Invocation, 'manifest'>): Param =>
  operationNamed(manifest, 'createSession').params.find(({ name }) => name === 'confirm')!

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

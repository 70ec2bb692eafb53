/** `bax step`: runs a batch like `bax do` and prints its effect on the page. */
import type { Param } from '../../../core/operation/params.ts'
import type { StepResult } from '../../../core/shapes/observe.ts'
import { type BatchKind, flagFields, type TypedBatch } from '../../../lines/batch.ts'
import { operationNamed } from '../../context.ts'
import type { TerminalCommand } from '../../parse/invocation.ts'
import { type Io, print } from '../../io.ts'
import { helpExamples, helpText } from '../../../lines/help-layout.ts'
import { stepText } from '../../../core/text/changes.ts'
import { observationText } from '../../../core/text/observation.ts'
import { writeScreenshot } from '../../output/write-output.ts'
import { runBatch } from './do.ts'

const bodyFields: ReadonlySet<string> = new Set(['session_id', 'command', 'commands', 'data', 'observe', 'diff'])

export const command: TerminalCommand = {
  cli: 'step <command> …',
  summary: 'Run browser commands and print their effect',
  example: ["bax step click 'ref=e12'", "bax step click 'ref=e12' then type-text '#q' tea --include snapshot,console"],
  place: 'engine',
  run(invocation) {
    const { io, manifest, examples } = invocation
    const fields = operationNamed(manifest, 'browserStep').params.filter(({ name }) => !bodyFields.has(name))
    const observeFields = operationNamed(manifest, 'observe').params.filter(({ name }) => !bodyFields.has(name))
    return runBatch(invocation, {
      parse: kindOf(fields, observeFields, examples),
      send: ({ settings }, batch, given) => ({
        words: 'step',
        operation: 'browserStep',
        fields: {
          ...flagFields(fields, batch.flags, io.cwd),
          ...observeOf(observeFields, batch, io.cwd),
          ...diffOf(batch, given, settings.json),
        },
        show: (body) => showStep(io, body as StepResult),
      }),
    })
  },
}

function showStep(io: Io, body: StepResult): void {
  print(io, stepText(body))
  if (body.observation) print(io, observationText(body.observation))
  const screenshot = body.observation?.screenshot ?? body.screenshot
  if (screenshot !== undefined) print(io, `\nscreenshot: ${writeScreenshot(io, screenshot)}`)
}

const noObserve: Param = {
  name: 'observe',
  type: 'boolean',
  required: false,
  default: true,
  description: 'observe the page afterwards',
}

const diff: Param = {
  name: 'diff',
  type: 'boolean',
  required: false,
  description: 'print only changes since the last observation; the default without --json',
}

const kindOf = (fields: readonly Param[], observeFields: readonly Param[], examples: readonly string[]): BatchKind => ({
  words: 'step',
  params: [...fields, noObserve, diff, ...observeFields],
  help: (flags, width) =>
    [
      helpText('Run browser commands and print their effect; the commands are those of `bax do`', width),
      '',
      'Usage: bax step [flags] <command> [words] [then <command> [words]]…',
      '       bax step [flags] -          a JSON array of {command, data} on standard input',
      '',
      flags.trimEnd(),
      ...helpExamples(examples),
      '',
      helpText('Run "bax do --help" for the browser commands, "bax do <command> --help" for details.', width),
      '',
    ].join('\n'),
})

function observeOf(params: readonly Param[], { flags }: TypedBatch, cwd: string): { observe?: unknown } {
  if (flags['observe'] === false) return { observe: false }
  const observe = flagFields(params, flags, cwd)
  return Object.keys(observe).length > 0 ? { observe } : {}
}

/** Returns the `diff` field: by default true in the terminal, and absent with --json. */
function diffOf({ flags }: TypedBatch, given: Readonly<Record<string, unknown>>, json: boolean): { diff?: boolean } {
  if (typeof flags['diff'] === 'boolean') return { diff: flags['diff'] }
  const isObserved = flags['observe'] !== false && given['observe'] !== false
  return json || !isObserved || 'diff' in given ? {} : { diff: true }
}

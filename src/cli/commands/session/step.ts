/** `bax step`: commands as after `bax do`, and what they did to the page. */
import { call } from '../../../client/client.ts'
import type { Param } from '../../../core/operation/params.ts'
import type { StepResult } from '../../../core/shapes/observe.ts'
import type { BatchKind, TypedBatch } from '../../parse/batch.ts'
import { showBatch } from '../../output/batch-output.ts'
import { explainSession, noEngineFor, sessionFor } from '../../session/chosen-session.ts'
import { reportingControl } from '../../output/control-notice.ts'
import { operationNamed } from '../../context.ts'
import { homeName, openHome } from '../../engine/locate-engine.ts'
import type { TerminalCommand } from '../../parse/invocation.ts'
import { note, print } from '../../io.ts'
import { stepText } from '../../output/changes.ts'
import { observationText, writePicture } from '../../output/observation.ts'
import { showWarning } from '../../output/output.ts'
import { parseBatch } from '../../parse/parse-batch.ts'
import { onWire } from '../../send-batch.ts'
import { readSettings } from '../../settings.ts'
import { readCommands } from '../../parse/stdin-commands.ts'
import { flagValue, globalFlags } from '../../parse/values.ts'

const bodyFields: ReadonlySet<string> = new Set(['session_id', 'command', 'commands', 'data', 'observe', 'diff'])

export const command: TerminalCommand = {
  async run({ io, manifest, argv, example }) {
    const fields = operationNamed(manifest, 'browserStep').params.filter(({ name }) => !bodyFields.has(name))
    const wishes = operationNamed(manifest, 'observe').params.filter(({ name }) => !bodyFields.has(name))
    const batch = parseBatch(argv, manifest, io.cwd, kindOf(fields, wishes, example))
    const settings = readSettings(globalFlags(batch.flags), io)
    const context = { io, manifest, settings }
    const given = batch.commands === null ? await readCommands(io) : {}
    const flag = (batch.flags['session'] ?? given['session_id']) as string | undefined
    const session = sessionFor(settings, homeName(context), flag)
    const home = openHome(context, session ? { when: 'running', absent: noEngineFor(session.id) } : { when: 'start' })
    const commands = batch.commands?.map((typed) => onWire(typed, home, io))
    const input = {
      ...given,
      ...valuesOf(fields, batch, io.cwd),
      ...observeOf(wishes, batch, io.cwd),
      ...diffOf(batch, given, settings.json),
      ...(commands && { commands: commands.map(({ wire }) => wire) }),
      ...(session && { session_id: session.id }),
    }
    try {
      const { http } = operationNamed(manifest, 'browserStep')
      const sending = call(home.transport, http, input, { signal: io.signal, strict: true })
      const body = (await reportingControl(io, home.transport, session?.id, sending)) as StepResult
      if (!session && home.kind !== 'embedded' && !settings.json) {
        note(io, `session ${body.session_id} (go on with: bax step -s ${body.session_id} …)`)
      }
      await showWarning(io, body)
      const code = await showBatch(context, body, commands?.map(({ typed }) => typed) ?? null, new Date())
      if (settings.json) return code
      print(io, stepText(body))
      if (body.observation) print(io, observationText(body.observation))
      const picture = body.observation?.screenshot ?? body.screenshot
      if (picture !== undefined) print(io, `\nscreenshot: ${writePicture(io, picture, undefined, new Date())}`)
      return code
    } catch (error) {
      throw explainSession(error, session?.source)
    } finally {
      await home.transport.close()
    }
  },
}

const noObserve: Param = {
  name: 'observe',
  type: 'boolean',
  required: false,
  default: true,
  description: 'look at the page afterwards',
}

const diff: Param = {
  name: 'diff',
  type: 'boolean',
  required: false,
  description: 'show only what has changed since the last observation; the default without --json',
}

const kindOf = (fields: readonly Param[], wishes: readonly Param[], example: string | undefined): BatchKind => ({
  words: 'step',
  params: [...fields, noObserve, diff, ...wishes],
  help: (flags) =>
    [
      'Run browser commands and see what they did to the page; the words are those of `bax do`',
      '',
      'Usage: bax step [flags] <command> [words] [then <command> [words]]…',
      '       bax step [flags] -          a JSON array of {command, data} on standard input',
      '',
      flags.trimEnd(),
      ...(example ? ['', 'Example:', `  ${example}`] : []),
      '',
      'bax do --help lists the browser commands; bax do <command> --help tells more about one',
      '',
    ].join('\n'),
})

function valuesOf(params: readonly Param[], { flags }: TypedBatch, cwd: string): Record<string, unknown> {
  const entries = params.map((param) => [param.name, flagValue(param, flags, cwd)] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

function observeOf(wishes: readonly Param[], batch: TypedBatch, cwd: string): { observe?: unknown } {
  if (batch.flags['observe'] === false) return { observe: false }
  const wanted = valuesOf(wishes, batch, cwd)
  return Object.keys(wanted).length > 0 ? { observe: wanted } : {}
}

/** Readers of JSON get the whole page unless they say otherwise. */
function diffOf({ flags }: TypedBatch, given: Record<string, unknown>, json: boolean): { diff?: boolean } {
  if (typeof flags['diff'] === 'boolean') return { diff: flags['diff'] }
  const isObserved = flags['observe'] !== false && given['observe'] !== false
  return json || !isObserved || 'diff' in given ? {} : { diff: true }
}

/** `bax shell exec`: runs a command of a session with the standard streams and exit code of this process. */
import { isHelpWanted } from '../../../lines/help-wanted.ts'
import { textFlag } from '../../../lines/typed.ts'
import { resolve } from 'node:path'
import type { Calls, Unchecked } from '../../../client/calls.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { Artifact } from '../../../core/shapes/shell/artifacts.ts'
import { type Context, operationNamed } from '../../context.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { printFailure } from '../../output/errors.ts'
import { withEngine } from '../../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { note, print, readStdinBytes } from '../../io.ts'
import { withSpinner } from '../../output/progress.ts'
import { needOf } from '../../engine/need.ts'
import { shellFor } from '../../session/chosen-session.ts'
import { addExecFlags, type ExecRequest, readExec } from '../../shell/exec-request.ts'
import { type Ended, runFrames } from '../../shell/run-frames.ts'
import { artifactsOf, noteSkipped, saveArtifacts } from '../../shell/save-files.ts'
import { needTerminal, runInTerminal } from '../../shell/terminal.ts'

/** Exit code of a failure of bax, which must differ from those of commands. */
const notRun = 125

export const command: TerminalCommand = {
  cli: 'shell exec [--] <command> …',
  summary: 'Run a command in a shell session',
  async run(invocation) {
    const { io, manifest } = invocation
    let isJson = false
    try {
      const { context, typed } = parseInvocation(invocation, (command) => addExecFlags(command, manifest))
      isJson = context.settings.json
      const session = shellFor(context.settings, textFlag(typed.flags, 'session'))?.id
      const request = await readExec(typed, manifest, io, session)
      if (request.isTerminal) needTerminal(io, 'run "bax shell exec -s ID -- …" without a terminal instead')
      if (session === undefined) {
        return await withEngine(context, { when: 'ask' }, (engine) => runInOwnShell({ context, engine, request }))
      }
      const need = needOf(operationNamed(manifest, 'shellExec'), { session_id: session })
      return await withEngine(context, need, (engine) => runNamed({ context, engine, request }, session))
    } catch (error) {
      if (isHelpWanted(error)) throw error
      const code = await printFailure(error, io, isJson, invocation)
      return io.signal.aborted ? code : notRun
    }
  },
}

interface Exec {
  readonly context: Context
  readonly engine: Calls
  readonly request: ExecRequest
}

/** Runs the command in a new session, which is always removed afterwards. */
async function runInOwnShell(exec: Exec): Promise<number> {
  const { context, engine, request } = exec
  const { signal } = context.io
  const create = () => engine.ask('createShell', request.shell, { signal, strict: true })
  const { session_id } = await withSpinner(context.io, 'creating a shell session', create)
  let ended: Ended
  try {
    ended = await runOne(exec, session_id)
  } finally {
    // Not `io.signal`: an interrupted command still has to clean up.
    const closing = AbortSignal.timeout(limits.shell.closeMs)
    await engine.ask('deleteShell', { session_id }, { signal: closing })
  }
  // The artifacts are complete when the session has ended.
  await save(exec, () => artifactsOf(engine, session_id, signal))
  return ended.exitCode
}

async function runNamed(exec: Exec, session: string): Promise<number> {
  const ended = await runOne(exec, session)
  await save(exec, async () => {
    const all = await artifactsOf(exec.engine, session, exec.context.io.signal)
    return all.filter(({ id }) => ended.artifactIds.includes(id))
  })
  return ended.exitCode
}

async function runOne(exec: Exec, session_id: string): Promise<Ended> {
  const { context, engine, request } = exec
  const { io, settings } = context
  const { isTerminal, isBackground, withStdin } = request
  const body = { ...request.body, session_id }
  if (isTerminal) return runInTerminal({ io, engine, body })
  if (settings.json || isBackground) return runWhole(exec, body)
  return runFrames({ io, engine, body: { ...body, keep_stdin: withStdin }, withStdin })
}

/** Prints the answer of the API, or the ID of a background command. */
async function runWhole({ context, engine, request }: Exec, body: Unchecked): Promise<Ended> {
  const { io, settings } = context
  const { withStdin, isBackground } = request
  const input =
    withStdin && !isBackground ? { stdin: (await readStdinBytes(io)).toString('base64'), stdin_encoding: 'base64' } : {}
  const fields = { ...body, ...input, ...(isBackground && { background: true }) }
  const answer = await engine.ask('shellExec', fields, { signal: io.signal, strict: true })
  if (settings.json) print(io, JSON.stringify(answer))
  if (!('exit_code' in answer)) {
    if (!settings.json) print(io, answer.exec_id)
    return { exitCode: 0, artifactIds: [] }
  }
  const { exit_code, artifact_id } = answer
  return { exitCode: exit_code, artifactIds: artifact_id === null ? [] : [artifact_id] }
}

async function save({ context, engine, request }: Exec, find: () => Promise<readonly Artifact[]>): Promise<void> {
  const { io, settings } = context
  if (request.output === undefined) return
  const artifacts = await find()
  const { paths, failed } = await saveArtifacts(engine, artifacts, resolve(io.cwd, request.output), io.signal)
  noteSkipped(io, artifacts)
  if (!settings.json) for (const path of paths) note(io, `saved ${path}`)
  for (const { error } of failed) note(io, `not saved: ${error}`)
  const code = failed.find((file) => file.code !== 'invalid_request')?.code ?? 'invalid_request'
  if (failed.length > 0) throw new BaxError(code, `${failed.length} artifact files could not be saved`)
}

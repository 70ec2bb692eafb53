/** `bax shell exec`: runs a command of a session with the standard streams and exit code of this process. */
import { call } from '../../../client/client.ts'
import type { Transport } from '../../../client/transport.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { ExecResult } from '../../../core/shapes/shell/exec.ts'
import type { ShellSession } from '../../../core/shapes/shell/session.ts'
import { type Context, operationNamed } from '../../context.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { printFailure } from '../../output/errors.ts'
import { withEngine } from '../../engine/locate-engine.ts'
import { parseInvocation, type Invocation, type TerminalCommand } from '../../parse/invocation.ts'
import { type Io, note, print, readStdinBytes } from '../../io.ts'
import { withSpinner } from '../../output/progress.ts'
import { needOf } from '../../engine/need.ts'
import { shellFor } from '../../session/chosen-session.ts'
import { addExecFlags, type ExecRequest, readExec } from '../../shell/exec-request.ts'
import { type Ended, runFrames } from '../../shell/run-frames.ts'
import { artifactsOf, saveArtifacts } from '../../shell/save-files.ts'
import { needTerminal, runInTerminal } from '../../shell/terminal.ts'

/** Exit code of a failure of bax, which must differ from those of commands. */
const notRun = 125

export const command: TerminalCommand = async (invocation) => {
  const { io } = invocation
  let isJson = false
  try {
    const { context, typed } = parseInvocation(invocation, (command) => addExecFlags(command, invocation.manifest))
    isJson = context.settings.json
    const session = shellFor(context.settings, typed.flags['session'] as string | undefined)?.id
    const request = await readExec(typed, invocation.manifest, io, session)
    if (request.isTerminal) needTerminal(io)
    return await runIn(context, invocation, request, session)
  } catch (error) {
    if (error instanceof Error && error.name === 'HelpWanted') throw error
    const code = await printFailure(error, io, isJson)
    return io.signal.aborted ? code : notRun
  }
}

async function runIn(
  context: Context,
  { manifest }: Invocation,
  request: ExecRequest,
  session: string | undefined,
): Promise<number> {
  if (session !== undefined) {
    const need = needOf(operationNamed(manifest, 'shellExec'), { session_id: session })
    return withEngine(context, need, ({ transport }) => runNamed(context, transport, request, session))
  }
  return withEngine(context, { when: 'ask' }, async ({ transport }) => {
    const { io } = context
    const { sessionId, ended } = await inOwnShell(io, transport, request.shell, async (sessionId) => ({
      sessionId,
      ended: await runOne(context, transport, request, sessionId),
    }))
    // The artifacts are complete when the session has ended.
    await save(context, transport, request, () => artifactsOf(transport, sessionId, io.signal))
    return ended.exitCode
  })
}

/** Calls `work` with a new session, which is always removed afterwards. */
async function inOwnShell<T>(
  io: Io,
  transport: Transport,
  fields: Readonly<Record<string, unknown>>,
  work: (sessionId: string) => Promise<T>,
): Promise<T> {
  const options = { signal: io.signal, strict: true }
  const session = (await withSpinner(io, 'creating a shell session', () =>
    call(transport, 'POST /shell/sessions', { ...fields }, options),
  )) as ShellSession
  try {
    return await work(session.session_id)
  } finally {
    // Not `io.signal`: an interrupted command still has to clean up.
    const signal = AbortSignal.timeout(limits.shell.closeMs)
    await call(transport, 'DELETE /shell/sessions/{session_id}', { session_id: session.session_id }, { signal })
  }
}

async function runNamed(
  context: Context,
  transport: Transport,
  request: ExecRequest,
  session: string,
): Promise<number> {
  const ended = await runOne(context, transport, request, session)
  await save(context, transport, request, async () => {
    const all = await artifactsOf(transport, session, context.io.signal)
    return all.filter(({ id }) => ended.artifactIds.includes(id))
  })
  return ended.exitCode
}

async function runOne(
  context: Context,
  transport: Transport,
  request: ExecRequest,
  session_id: string,
): Promise<Ended> {
  const { io, settings } = context
  const http = 'POST /shell/exec/stream'
  const body = { ...request.body, session_id }
  if (request.isTerminal) return runInTerminal({ io, transport, http, body })
  if (settings.json || request.isBackground) return runWhole(context, transport, request, body)
  return runFrames({
    io,
    transport,
    http,
    body: { ...body, keep_stdin: request.withStdin },
    withStdin: request.withStdin,
  })
}

/** Prints the answer of the API, or the ID of a background command. */
async function runWhole(
  { io, settings }: Context,
  transport: Transport,
  { withStdin, isBackground }: ExecRequest,
  body: Record<string, unknown>,
): Promise<Ended> {
  const input =
    withStdin && !isBackground ? { stdin: (await readStdinBytes(io)).toString('base64'), stdin_encoding: 'base64' } : {}
  const request = { ...body, ...input, ...(isBackground && { background: true }) }
  const answer = await call(transport, 'POST /shell/exec', request, { signal: io.signal, strict: true })
  if (settings.json) print(io, JSON.stringify(answer))
  if (isBackground) {
    if (!settings.json) print(io, (answer as { exec_id: string }).exec_id)
    return { exitCode: 0, artifactIds: [] }
  }
  const { exit_code, artifact_id } = answer as ExecResult
  return { exitCode: exit_code, artifactIds: artifact_id === null ? [] : [artifact_id] }
}

type Artifacts = Parameters<typeof saveArtifacts>[1]

async function save(
  { io, settings }: Context,
  transport: Transport,
  { output }: ExecRequest,
  find: () => Promise<Artifacts>,
): Promise<void> {
  if (output === undefined) return
  const { resolve } = await import('node:path')
  const artifacts = await find()
  const { paths, failed } = await saveArtifacts(transport, artifacts, resolve(io.cwd, output), io.signal)
  for (const { skipped } of artifacts)
    for (const { name, reason } of skipped) note(io, `not saved: ${name} (${reason.replaceAll('_', ' ')})`)
  if (!settings.json) for (const path of paths) note(io, `saved ${path}`)
  for (const { error } of failed) note(io, `not saved: ${error}`)
  if (failed.length > 0) throw new BaxError('invalid_request', `${failed.length} artifact files could not be saved`)
}

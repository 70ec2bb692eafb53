/** `bax shell exec`: a command of a session, as if it ran here: its bytes, its input, its exit code. */
import { call } from '../../../client/client.ts'
import type { Transport } from '../../../client/transport.ts'
import type { ExecResult } from '../../../core/shapes/shell/exec.ts'
import { type Context, operationNamed } from '../../context.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { tellFailure } from '../../output/errors.ts'
import { type Home, openHome } from '../../engine/locate-engine.ts'
import { begin, type Invocation, type TerminalCommand } from '../../parse/invocation.ts'
import { note, print } from '../../io.ts'
import { needOf } from '../../engine/need.ts'
import { shellFor } from '../../session/chosen-session.ts'
import { addExecFlags, type ExecRequest, readExec } from '../../shell/exec-request.ts'
import { inOwnShell } from '../../shell/own-shell.ts'
import { type Ended, runFrames } from '../../shell/run-frames.ts'
import { artifactsOf, saveArtifacts } from '../../shell/save-files.ts'
import { needTerminal, runInTerminal } from '../../shell/terminal.ts'

/** Exit code of a failure of ours: the command's own codes tell of the command. */
const notRun = 125

export const command: TerminalCommand = {
  async run(invocation) {
    const { io } = invocation
    let isJson = false
    try {
      const { context, typed } = begin(invocation, (command) => addExecFlags(command, invocation.manifest))
      isJson = context.settings.json
      const session = shellFor(context.settings, typed.flags['session'] as string | undefined)?.id
      const request = await readExec(typed, invocation.manifest, io, session)
      if (request.isTerminal) needTerminal(io)
      return await runIn(context, invocation, request, session)
    } catch (error) {
      if (error instanceof Error && error.name === 'HelpWanted') throw error
      const code = await tellFailure(error, io, isJson)
      return io.signal.aborted ? code : notRun
    }
  },
}

async function runIn(
  context: Context,
  { manifest }: Invocation,
  request: ExecRequest,
  session: string | undefined,
): Promise<number> {
  const operation = operationNamed(manifest, 'shellExec')
  const home = openHome(context, session === undefined ? { when: 'ask' } : needOf(operation, { session_id: session }))
  try {
    if (session !== undefined) return await runNamed(context, home, request, session)
    const { io } = context
    let ran: { sessionId: string; ended: Ended } | undefined
    await inOwnShell(io, home.transport, request.shell, async (sessionId) => {
      ran = { sessionId, ended: await runOne(context, home.transport, request, sessionId) }
    })
    const { sessionId, ended } = ran!
    // What was left behind is known when the session is gone.
    await save(context, home.transport, request, () => artifactsOf(home.transport, sessionId, io.signal))
    return ended.exitCode
  } finally {
    await home.transport.close()
  }
}

async function runNamed(context: Context, { transport }: Home, request: ExecRequest, session: string): Promise<number> {
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

/** The answer as the API gives it, or the id of a command in the background. */
async function runWhole(
  { io, settings }: Context,
  transport: Transport,
  { withStdin, isBackground }: ExecRequest,
  body: Record<string, unknown>,
): Promise<Ended> {
  const input = withStdin && !isBackground ? { stdin: await readBase64(io.stdin), stdin_encoding: 'base64' } : {}
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

async function readBase64(stdin: AsyncIterable<string | Uint8Array>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Uint8Array))
  return Buffer.concat(chunks).toString('base64')
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

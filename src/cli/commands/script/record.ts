/** `bax record`: records what a person does in a browser as a script. */
import { textWord, textFlag } from '../../../lines/typed.ts'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Argument } from 'commander'
import { BaxError, exits } from '../../../core/errors/errors.ts'
import type { RecordingState } from '../../../core/shapes/recording.ts'
import { startSteps } from '../../../core/text/script/write-script.ts'
import type { Context } from '../../context.ts'
import { hasDisplay } from '../../engine/engine-config.ts'
import { type LocatedEngine, withSession } from '../../engine/locate-engine.ts'
import { note, print } from '../../io.ts'
import { interruptedExit } from '../../output/errors.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { closeSession, recordUntilEnd } from '../../record/record-session.ts'
import { verifyScript } from '../../record/report-verification.ts'
import { ScriptFile } from '../../record/script-file.ts'
import type { Verification } from '../../record/verify.ts'
import { noEngineFor } from '../../session/chosen-session.ts'
import { createReady } from '../../session/create-session.ts'

/** The stream of its events holds the session, which ends soon after this process, however it is ended. */
const lifetime = { idle_timeout_secs: 10, timeout_secs: 4 * 3600 }

export const command: TerminalCommand = {
  cli: 'record [url]',
  summary: 'Record browser input as a script',
  example: ['bax record https://example.com -o flow.yaml', 'bax record -s shop -o flow.yaml'],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.addArgument(new Argument('[url]', 'page to start on; https:// may be left out'))
      command.option(
        '-o, --output <file>',
        'script to write, kept complete while recording; standard output by default',
      )
      command.option('--force', 'overwrite an existing file')
      command.option(
        '--verify',
        'replay the script at the end, and fail unless every step was replayed (replayed by default)',
      )
      command.option('--no-verify', 'do not replay the script at the end')
      command.option('-s, --session <id>', 'ID or name of an existing session to record, which stays open')
    })
    const { io, manifest } = context
    const url = textWord(typed.words, 0)
    if (url !== undefined && /\.ya?ml$/i.test(url) && !url.includes('://'))
      throw new BaxError('invalid_request', `${JSON.stringify(url)} is the name of a script, not a URL`, {
        hint: `use "bax record [url] -o ${url}"`,
      })
    const { force, verify } = typed.flags
    const [output, session] = [textFlag(typed.flags, 'output'), textFlag(typed.flags, 'session')]
    const path = output === undefined || output === '-' ? undefined : resolve(io.cwd, output)
    if (path !== undefined && existsSync(path) && !force) {
      throw new BaxError('invalid_request', `${output} exists already`, {
        hint: 'choose another name for --output, or add --force to overwrite it',
      })
    }
    const need =
      session === undefined
        ? ({ when: 'start' } as const)
        : ({ when: 'running', absent: noEngineFor(session) } as const)
    return withSession(context, need, session === undefined ? undefined : 'flag', async (engine) => {
      const script = new ScriptFile(path, manifest)
      const id = session ?? (await openSession(context, engine))
      let state: RecordingState | undefined
      try {
        await begin(context, engine, { id, url, script })
        state = await recordUntilEnd(context, engine, id, script)
      } finally {
        if (session === undefined) await closeSession(engine, id)
      }
      let verification: Verification | undefined
      try {
        const verifies = verify !== false && script.count > 0 && !io.signal.aborted
        if (verifies) verification = await verifyScript(script, context, engine)
      } finally {
        await show(context, script, { state, verification, output: path === undefined ? undefined : output })
      }
      if (io.signal.aborted) return interruptedExit(io)
      return isVerified(verification, verify) ? exits.done : exits.failed
    })
  },
}

/** Whether all steps hold, as far as the flags demand it: `verify` is true with --verify, false with --no-verify. */
const isVerified = (verification: Verification | undefined, verify: unknown): boolean =>
  verification === undefined || verification.success || (verification.failed_step === undefined && verify !== true)

/** Prints the script, or what was written. */
async function show(
  { io, settings }: Context,
  script: ScriptFile,
  {
    output,
    state,
    verification,
  }: {
    readonly state: RecordingState | undefined
    readonly verification: Verification | undefined
    readonly output: string | undefined
  },
): Promise<void> {
  if (settings.json && state) print(io, JSON.stringify({ ...state, ...(verification && { verification }) }))
  else if (output === undefined) io.stdout.write(await script.text())
  const missing = script.uploads.filter((file) => !existsSync(resolve(io.cwd, file)))
  for (const file of missing)
    note(io, `warning: the script uploads ${file}, which is not in this folder: complete its path`)
  if (output !== undefined) note(io, `wrote ${output} (${script.count} steps; run with: bax run ${output})`)
}

/** Creates a session with a window where this machine can show one; the person answers dialogs. */
const openSession = (context: Context, engine: LocatedEngine): Promise<string> =>
  createReady(context, engine, {
    ...lifetime,
    dialogs: 'ask',
    headless: engine.kind === 'server' || !hasDisplay(context.io),
  })

/** Opens the first page, adds the step for it, and prints how to control a session without a window. */
async function begin(
  { io }: Context,
  { ask }: LocatedEngine,
  {
    id: session_id,
    url,
    script,
  }: { readonly id: string; readonly url: string | undefined; readonly script: ScriptFile },
): Promise<void> {
  if (url !== undefined) {
    const commands = [{ command: 'navigate_to', data: { url } }]
    const { results } = await ask('runCommands', { session_id, commands }, { signal: io.signal, strict: true })
    const [result] = results
    if (!result?.success && result?.code !== 'dialog_blocking') throw BaxError.fromBody(result, 'navigation_failed')
    if (!result.success) note(io, 'the page has opened a dialog: its answer is not recorded')
  }
  const session = await ask('getSession', { session_id }, { signal: io.signal })
  for (const step of startSteps(url ?? session.url)) script.add(step)
  if (!session.headless) return
  const link = await ask('linkLiveView', { session_id, control: true }, { signal: io.signal })
  note(io, `open this page and take control: ${link.live_view_url}`)
}

/** `bax session create`: asks for a session and waits through its provisioning. */
import { setTimeout as pause } from 'node:timers/promises'
import { call } from '../../../client/client.ts'
import { BaxError, type ErrorBody } from '../../../core/errors/errors.ts'
import type { ProvisionRecord, SessionCreated } from '../../../core/shapes/session.ts'
import { writeChoice } from '../../session/choose-session.ts'
import { type Context, operationNamed } from '../../context.ts'
import { type Home, openHome } from '../../engine/locate-engine.ts'
import { begin, type TerminalCommand } from '../../parse/invocation.ts'
import { type Io, note, print } from '../../io.ts'
import { showWarning } from '../../output/output.ts'
import { startSpinner } from '../../output/progress.ts'
import { addOperation, readOperation } from '../../run-operation.ts'
import { styleFor } from '../../output/style.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const operation = operationNamed(invocation.manifest, 'createSession')
    const { context, typed } = begin(invocation, (command) => {
      addOperation(command, operation)
      command.option('--use', 'choose the new session for the commands that follow')
      command.option('--no-wait', 'do not wait while a browser is being found; print the provision instead')
    })
    const { input } = readOperation(context, operation, typed)
    const home = openHome(context, { when: 'start' })
    const { io } = context
    const spinner = await startSpinner(io, 'creating a session')
    try {
      const created = await createOrUndo(io, home, operation.http, input)
      const waits = created.status === 'provisioning' && typed.flags['wait'] !== false
      const answer = waits ? await provisioned(context, home, created.provision_id!, spinner.say) : created
      spinner.stop()
      if (typed.flags['use'] && answer.session_id) {
        await writeChoice(context.settings, { session_id: answer.session_id, home: home.name })
      }
      await showCreated(context, answer)
      return 0
    } finally {
      spinner.stop()
      await home.transport.close()
    }
  },
}

/** How long an interrupted creation may still answer: what it made can then be undone by its id. */
const undoMs = 1000

/** Creates; after an interrupt what was made is ended again. */
async function createOrUndo(
  { signal }: Io,
  { transport }: Home,
  http: string,
  input: Record<string, unknown>,
): Promise<SessionCreated> {
  const late = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const interrupt = () => (timer = setTimeout(() => late.abort(signal.reason), undoMs))
  signal.addEventListener('abort', interrupt, { once: true })
  try {
    const created = (await call(transport, http, input, { signal: late.signal, strict: true })) as SessionCreated
    if (!signal.aborted) return created
    const { status, provision_id, session_id } = created
    if (status === 'provisioning') await call(transport, `DELETE ${provisionPath}`, { provision_id })
    else await call(transport, 'DELETE /sessions/{session_id}', { session_id })
    throw signal.reason
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', interrupt)
  }
}

const provisionPath = '/sessions/provision/{provision_id}'

/** Polls until the session is there. An interrupt cancels what was asked for. */
async function provisioned(
  { io }: Context,
  { transport }: Home,
  provision_id: string,
  say: (text: string) => void,
): Promise<ProvisionRecord> {
  try {
    for (;;) {
      const record = (await call(
        transport,
        `POST ${provisionPath}`,
        { provision_id },
        { signal: io.signal },
      )) as ProvisionRecord
      if (record.status === 'ready') return record
      if (record.status !== 'provisioning') {
        const { error, code } = record
        const body: Partial<ErrorBody> = { error: error ?? `the provisioning was ${record.status}` }
        throw BaxError.fromBody(code ? { ...body, code } : body, 'no_capacity')
      }
      const place = record.queue_position ? `, ${record.queue_position} in the queue` : ''
      say(`waiting for a browser: ${record.stage.replaceAll('_', ' ')}${place}`)
      await pause(record.retry_after_ms, undefined, { signal: io.signal })
    }
  } catch (error) {
    if (io.signal.aborted) await call(transport, `DELETE ${provisionPath}`, { provision_id })
    throw error
  }
}

async function showCreated({ io, settings }: Context, answer: SessionCreated | ProvisionRecord): Promise<void> {
  if (settings.json) return print(io, JSON.stringify(answer))
  const id = answer.session_id ?? answer.provision_id!
  if (io.stdout.isTTY) {
    const { green, dim } = await styleFor(io, io.stderr)
    if (answer.session_id) note(io, `${green('✓')} session ready ${dim(`(go on with: bax do -s ${id} …)`)}`)
    else note(io, `provisioning ${dim(`(ask with: bax session provision ${id})`)}`)
  }
  print(io, id)
  await showWarning(io, answer)
}

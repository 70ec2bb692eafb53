/** `bax session create`: creates a session and waits for its provisioning. */
import { setTimeout as pause } from 'node:timers/promises'
import { call } from '../../../client/client.ts'
import { BaxError, type ErrorBody } from '../../../core/errors/errors.ts'
import type { ProvisionRecord, SessionCreated } from '../../../core/shapes/session.ts'
import { writeChoice } from '../../session/choose-session.ts'
import { type Context, operationNamed } from '../../context.ts'
import { type LocatedEngine, withEngine } from '../../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { type Io, note, print } from '../../io.ts'
import { showWarning } from '../../output/output.ts'
import { withSpinner } from '../../output/progress.ts'
import { addOperation, readOperation } from '../../run-operation.ts'
import { styleFor } from '../../output/style.ts'

export const command: TerminalCommand = async (invocation) => {
  const operation = operationNamed(invocation.manifest, 'createSession')
  const { context, typed } = parseInvocation(invocation, (command) => {
    addOperation(command, operation)
    command.option('--use', 'make it the default session')
    command.option('--no-wait', 'print the provision instead of waiting for a browser')
  })
  const { input } = readOperation(context, operation, typed)
  return withEngine(context, { when: 'start' }, async (engine) => {
    const answer = await withSpinner(context.io, 'creating a session', async (say) => {
      const created = await createOrUndo(context.io, engine, operation.http, input)
      const waits = created.status === 'provisioning' && typed.flags['wait'] !== false
      return waits ? provisioned(context, engine, created.provision_id!, say) : created
    })
    if (typed.flags['use'] && answer.session_id) {
      await writeChoice(context.settings, { session_id: answer.session_id, home: engine.name })
    }
    await showCreated(context, answer)
  })
}

/** Time to wait for the answer after an interrupt, in milliseconds: its ID is needed to delete the session. */
const undoMs = 1000

/** Creates a session, and deletes it again after an interrupt. */
async function createOrUndo(
  { signal }: Io,
  { transport }: LocatedEngine,
  http: string,
  input: Record<string, unknown>,
): Promise<SessionCreated> {
  const undoTimeout = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const interrupt = () => (timer = setTimeout(() => undoTimeout.abort(signal.reason), undoMs))
  signal.addEventListener('abort', interrupt, { once: true })
  try {
    const created = (await call(transport, http, input, { signal: undoTimeout.signal, strict: true })) as SessionCreated
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

/** Polls until the session is ready. An interrupt cancels the provisioning. */
async function provisioned(
  { io }: Context,
  { transport }: LocatedEngine,
  provision_id: string,
  say: (text: string) => void,
): Promise<ProvisionRecord> {
  try {
    for (;;) {
      const answer = await call(transport, `POST ${provisionPath}`, { provision_id }, { signal: io.signal })
      const record = answer as ProvisionRecord
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
    if (answer.session_id) note(io, `${green('✓')} session ready ${dim(`(continue with: bax do -s ${id} …)`)}`)
    else note(io, `provisioning ${dim(`(check with: bax session provision ${id})`)}`)
  }
  print(io, id)
  await showWarning(io, answer)
}

/** Creates sessions by name, and compares existing ones with the requested fields. */
import { mappingOf } from '../../core/text/is-mapping.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { type Calls, uncheckedFields } from '../../client/calls.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { SessionRecord } from '../../core/shapes/session.ts'
import { type Context, operationNamed } from '../context.ts'
import { note } from '../io.ts'
import { showWarning } from '../output/output.ts'
import { flagOf } from '../../lines/values.ts'
import { createReady } from './create-session.ts'
import type { NamedSession } from './named-session.ts'

/** Delay before the next check of a session that another command is creating, in milliseconds. */
const checkMs = 50

/** Creates a session by name; returns false if another command is creating it. `absence` is why there was none. */
export async function openNamed(
  context: Context,
  calls: Calls,
  { name, creation, opens = false }: NamedSession,
  absence: BaxError,
): Promise<boolean> {
  const { io } = context
  try {
    await createReady(context, calls, uncheckedFields({ ...creation, requested_name: name }))
    const wasClosed = mappingOf(absence.details)['reason'] === 'deleted'
    if (absence.code === 'session_closed' && !(opens && wasClosed))
      note(io, `${absence.message}; opened a new session "${name}"`)
    return true
  } catch (error) {
    if (!(error instanceof BaxError && error.code === 'conflict' && isInUse(error.details))) throw error
    await pause(checkMs, undefined, { signal: io.signal })
    return false
  }
}

/** Returns whether another session has the name, rather than a connected browser, which stays. */
const isInUse = (details: unknown): boolean =>
  Array.isArray(details) &&
  details.some(({ path, message }: Record<string, unknown>) => path === 'requested_name' && message === 'is in use')

/** Returns a live session. @throws BaxError `session_closed`, `session_not_found` */
export async function liveSession({ io }: Context, { ask }: Calls, session_id: string): Promise<SessionRecord> {
  const record = await ask('getSession', { session_id }, { signal: io.signal })
  if (record.status === 'ready') return record
  throw new BaxError('session_closed', `session ${record.session_id} has ended`, {
    details: { reason: record.end_reason, ended_at: record.ended_at },
  })
}

/** Replaces the name of a profile by its ID, which sessions report. */
async function withProfileId(
  { io }: Context,
  { ask }: Calls,
  creation: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const { profile_id } = creation
  if (typeof profile_id !== 'string') return creation
  const profile = await ask('getProfile', { profile_id }, { signal: io.signal })
  return { ...creation, profile_id: profile.profile_id }
}

/** @throws BaxError `conflict` when the live session with the name differs from the fields of `creation` */
export async function assertSame(
  context: Context,
  calls: Calls,
  { name, creation = uncheckedFields({}) }: NamedSession,
): Promise<void> {
  const record: Partial<Record<string, unknown>> = await liveSession(context, calls, name)
  const wanted = await withProfileId(context, calls, creation)
  // A window was requested when it was created, too, and could not be shown.
  const lacksWindow = wanted['headless'] === false && record['headless'] === true && record['warning'] !== undefined
  const same = lacksWindow ? { ...record, headless: false } : record
  const differing = Object.keys(wanted).filter((field) => JSON.stringify(wanted[field]) !== JSON.stringify(same[field]))
  if (differing.length === 0) return showWarning(context.io, record)
  const { params } = operationNamed(context.manifest, 'createSession')
  const flags = differing.map((field) => {
    const param = params.find(({ name: one }) => one === field)!
    if (creation[field] !== false) return flagOf(param)
    return param.opposite ? `--${param.opposite}` : flagOf(param).replace('--', '--no-')
  })
  throw new BaxError('conflict', `session "${name}" already exists with other settings: ${flags.join(', ')}`, {
    hint: `close it first with "bax close ${name}", or add --new-session`,
    details: differing.map((path) => ({ path, message: 'differs from the existing session' })),
  })
}

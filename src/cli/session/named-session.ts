/** Sessions that commands open by name: `default`, and the one of `bax open -s NAME`. */
import { mappingOf } from '../../core/text/is-mapping.ts'
import type { Calls, Unchecked } from '../../client/calls.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { Context } from '../context.ts'

/** A session to use, which is created if no live session has the name. */
export interface NamedSession {
  readonly name: string
  /** Fields of the new session. An existing session must have the same. */
  readonly creation?: Unchecked
  /** Whether the caller wants a page opened, so that a session which was closed on purpose is not worth a note. */
  readonly opens?: boolean
}

/**
 * Calls `work`, which uses the session. If there is none, creates it and calls `work` again: names are unique, so that
 * commands at the same time share one session. Reports a session that had ended on stderr.
 */
export async function inNamedSession<Result>(
  context: Context,
  calls: Calls,
  session: NamedSession,
  work: () => Promise<Result>,
): Promise<Result> {
  const hasFields = Object.keys(session.creation ?? {}).length > 0
  let isNew = false
  for (;;) {
    try {
      if (hasFields && !isNew) await (await import('./open-named.ts')).assertSame(context, calls, session)
      return await work()
    } catch (error) {
      if (isNew || !isAbsent(error)) throw error
      const { openNamed } = await import('./open-named.ts')
      isNew = await openNamed(context, calls, session, error)
    }
  }
}

/** Returns whether a call did nothing because there is no live session, as opposed to one that ended meanwhile. */
const isAbsent = (error: unknown): error is BaxError =>
  error instanceof BaxError &&
  (error.code === 'session_not_found' ||
    (error.code === 'session_closed' && mappingOf(error.details)['ended_at'] !== undefined))

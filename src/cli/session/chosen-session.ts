/** The session that a command works on when it names none: `BAX_SESSION`, then the choice of `bax session use`. */
import { BaxError } from '../../core/errors/errors.ts'
import { localFiles } from '../../core/state/local-home.ts'
import { readState, UnusableFile } from '../../core/state/state-file.ts'
import { stateKinds } from '../../core/state/state-kinds.ts'
import type { Settings } from '../settings.ts'

export interface ChosenSession {
  readonly session_id: string
  /** The home that has it: a server's address, or `local`. */
  readonly home: string
}

/** Where the name of a session came from; decides what an error about it advises. */
export type SessionSource = 'flag' | 'setting' | 'choice'

/** The session to use at this home; undefined when nothing names one. */
export function sessionFor(
  settings: Settings,
  home: string,
  flag?: string,
): { id: string; source: SessionSource } | undefined {
  if (flag) return { id: flag, source: 'flag' }
  if (settings.session) return { id: settings.session, source: 'setting' }
  const chosen = readChoice(settings)
  return chosen?.home === home ? { id: chosen.session_id, source: 'choice' } : undefined
}

/** The shell session to use; undefined when nothing names one. */
export function shellFor(settings: Settings, flag?: string): { id: string; source: SessionSource } | undefined {
  if (flag) return { id: flag, source: 'flag' }
  return settings.shellSession === undefined ? undefined : { id: settings.shellSession, source: 'setting' }
}

/** Reads the choice of `bax session use`. @throws BaxError once for a damaged one; after that nothing is chosen */
export function readChoice({ stateDir }: Settings): ChosenSession | undefined {
  try {
    return readState<ChosenSession>(localFiles(stateDir).chosenSession, stateKinds.chosenSession)
  } catch (error) {
    if (!(error instanceof UnusableFile)) throw error
    throw new BaxError(error.code, error.message, { cause: error, hint: 'choose again with `bax session use`' })
  }
}

/** Adds to an error about a missing session where its name came from. */
export function explainSession(error: unknown, source: SessionSource | undefined): unknown {
  // What is said of a shell session names its own commands already.
  if (error instanceof BaxError && /shell session/.test(error.message)) return error
  if (!(error instanceof BaxError) || (error.code !== 'session_not_found' && error.code !== 'session_closed'))
    return error
  const hints: Record<SessionSource, string> = {
    flag: '`bax session list` shows the live ones; `bax session create` makes one',
    setting:
      'its name comes from BAX_SESSION or a settings file; unset it, or make a session with `bax session create`',
    choice: 'it was chosen with `bax session use`; choose another, or run `bax session use --clear`',
  }
  return new BaxError(error.code, error.message, {
    ...(error.details && { details: error.details }),
    hint: (source && hints[source]) ?? error.hint,
    cause: error,
  })
}

/** The error of naming a shell session while no local engine runs. */
export const noEngineForShell =
  (id: string) =>
  (crashed: boolean): BaxError =>
    new BaxError(
      crashed ? 'session_closed' : 'shell_session_not_found',
      crashed
        ? `the engine that held shell session ${id} has died`
        : `no shell session ${id}: no local engine is running`,
      { ...(crashed && { details: { reason: 'engine_lost' } }), hint: 'make one with `bax shell create`' },
    )

/** The error of naming a session while no local engine runs. */
export const noEngineFor =
  (id: string) =>
  (crashed: boolean): BaxError =>
    crashed
      ? new BaxError('session_closed', `the engine that held session ${id} has died`, {
          details: { reason: 'engine_lost' },
          hint: 'make a new session with `bax session create`',
        })
      : new BaxError('session_not_found', `no session ${id}: no local engine is running`, {
          hint: 'make one with `bax session create`',
        })

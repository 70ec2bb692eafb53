/** Session of commands without a flag: `BAX_SESSION`, the choice of `bax session use`, or the one named `default`. */
import { BaxError, type ErrorCode } from '../../core/errors/errors.ts'
import { localFiles } from '../../core/state/local-files.ts'
import { readState, UnusableFile } from '../../core/state/state-file.ts'
import { stateKinds } from '../../core/state/state-kinds.ts'
import type { Settings } from '../../core/config/settings.ts'

export interface ChosenSession {
  readonly session_id: string
  /** Engine of the session: the URL of a server, or `local`. */
  readonly home: string
}

/** Source of a session's name, which decides the hint of errors about it. */
export type SessionSource = 'flag' | 'setting' | 'choice' | 'default'

export interface FoundSession {
  readonly id: string
  readonly source: SessionSource
}

/** Returns the session to use with an engine, if one is named. */
export function sessionFor(settings: Settings, home: string, flag?: string): FoundSession | undefined {
  if (flag) return { id: flag, source: 'flag' }
  if (settings.session) return { id: settings.session, source: 'setting' }
  const chosen = readChoice(settings)
  return chosen?.home === home ? { id: chosen.session_id, source: 'choice' } : undefined
}

/** Returns the named session, or else the one named `default`. An embedded engine ends with the command, and has none. */
export function sessionOrDefault(settings: Settings, home: string, flag?: string): FoundSession | undefined {
  return sessionFor(settings, home, flag) ?? (settings.embedded ? undefined : { id: 'default', source: 'default' })
}

/** Returns the shell session to use, if one is named. */
export function shellFor(settings: Settings, flag?: string): FoundSession | undefined {
  if (flag) return { id: flag, source: 'flag' }
  return settings.shellSession === undefined ? undefined : { id: settings.shellSession, source: 'setting' }
}

/** Reads the choice of `bax session use`. @throws BaxError for a damaged file, which is moved away */
export function readChoice({ stateDir }: Settings): ChosenSession | undefined {
  try {
    return readState<ChosenSession>(localFiles(stateDir).chosenSession, stateKinds.chosenSession)
  } catch (error) {
    if (!(error instanceof UnusableFile)) throw error
    throw new BaxError(error.code, error.message, { cause: error, hint: 'run "bax session use" again' })
  }
}

/** Adds a hint to an error about a missing session, depending on the source of its name. */
export function explainSession(error: unknown, source: SessionSource | undefined): unknown {
  if (!(error instanceof BaxError) || (error.code !== 'session_not_found' && error.code !== 'session_closed'))
    return error
  // Errors about shell sessions already have a hint.
  if (/shell session/.test(error.message)) return error
  const hints: Record<SessionSource, string> = {
    flag: 'run "bax session list" for the live sessions, or "bax session create"',
    setting: 'unset BAX_SESSION or session in the settings file, or run "bax session create"',
    choice: 'run "bax session use" to choose another session, or "bax session use --clear"',
    default: 'run "bax open" to open the default session, or name another one with -s',
  }
  return new BaxError(error.code, error.message, {
    details: error.details,
    hint: (source && hints[source]) ?? error.hint,
    cause: error,
  })
}

const noEngine =
  (noun: string, missing: ErrorCode, hint: string, hintAfterCrash = hint) =>
  (id: string) =>
  (crashed: boolean): BaxError =>
    crashed
      ? new BaxError('session_closed', `the engine that held ${noun} ${id} has died`, {
          details: { reason: 'engine_lost' },
          hint: hintAfterCrash,
        })
      : new BaxError(missing, `no ${noun} ${id}: no local engine is running`, { hint })

/** Builds the error of a command for a session while no local engine runs. */
export const noEngineFor = noEngine(
  'session',
  'session_not_found',
  'run "bax session create" first',
  'run "bax session create" for a new session',
)

/** Builds the error of a command for a shell session while no local engine runs. */
export const noEngineForShell = noEngine('shell session', 'shell_session_not_found', 'run "bax shell create" first')

/** Failures in the terminal: message and hint on stderr, the body on stdout with --json, and the exit code. */
import { asBaxError, BaxError, exits, messageOf } from '../../core/errors/errors.ts'
import { localFiles } from '../../core/state/local-files.ts'
import { systemReason, systemSentence, withSystemCause } from '../../core/errors/system-errors.ts'
import { exitOf, type Io, note, print, stopSignals } from '../io.ts'
import { readSettings } from '../settings.ts'
import { blockedHint } from '../../core/text/result-notes.ts'
import { styleFor } from './style.ts'
import type { TypedLine } from './typed-fields.ts'

/** Prints a failure and returns its exit code. Fields that the engine rejected are named as they were typed in `line`. */
export async function printFailure(thrown: unknown, io: Io, json: boolean, line?: TypedLine): Promise<number> {
  if (io.signal.aborted) return interruptedExit(io)
  // By name: commands that load on demand have a class of their own.
  if (thrown instanceof Error && thrown.name === 'ReaderGone') return exits.done
  const known = withSystemCause(asBaxError(thrown))
  const isBug = known.code === 'internal_error' && !(thrown instanceof BaxError) && !systemSentence(thrown)
  const error = isBug ? await logBug(thrown, io) : known
  io.onFailure?.(error.code)
  if (json) print(io, JSON.stringify(error.toBody()))
  const isTyped = line && error.code === 'invalid_request' && error.details !== undefined
  const message = isTyped ? (await import('./typed-fields.ts')).spellFields(error, line) : error.message
  await printError(io, message, error.hint ?? blockedHint(error.code, line?.argv ?? [], serverOf(io, line)))
  return error.exit
}

/** Returns the server that a command line or the environment names. */
const serverOf = ({ env }: Io, line: TypedLine | undefined): string | undefined =>
  line?.argv.find((word, at) => word.startsWith('--server=') || line.argv[at - 1] === '--server') ?? env['BAX_SERVER']

/** Prints that an output could not be written, and returns the exit code. */
export async function printWriteError(
  name: 'stdout' | 'stderr',
  error: NodeJS.ErrnoException,
  io: Io,
): Promise<number> {
  const output = name === 'stdout' ? 'standard output' : 'standard error'
  await printError(io, `cannot write to ${output}: ${systemReason(error)}`)
  return exits.internal
}

/** Returns the exit code of a command interrupted by a signal. */
export const interruptedExit = ({ signal }: Io): number =>
  stopSignals.includes(signal.reason) ? exitOf(signal.reason) : exits.interrupted

/** Returns the exit code of a service ended by a signal: only ^C counts as an interruption. */
export const serviceExit = (io: Io): number =>
  io.signal.reason === 'SIGTERM' || io.signal.reason === 'SIGHUP' ? exits.done : interruptedExit(io)

/** Prints `error: …` and `hint: …` to stderr. */
export async function printError(io: Io, message: string, hint?: string): Promise<void> {
  const { red, cyan } = await styleFor(io, io.stderr)
  note(io, `${red('error:')} ${message}`)
  if (hint) note(io, `${cyan('hint:')} ${spelled(hint)}`)
}

/** Spells commands and fields as in the terminal; leaves what looks like a path, a selector or quoted text. */
const spelled = (hint: string): string =>
  hint.replaceAll(/(?<![^\s(])[a-z]+(?:_[a-z]+)+(?![^\s),:;])/g, (name) => name.replaceAll('_', '-'))

/** Logs a bug in bax with its stack, and returns the error to print. */
async function logBug(thrown: unknown, io: Io): Promise<BaxError> {
  const reason = thrown instanceof Error ? thrown.message : String(thrown)
  const bug = (hint: string) =>
    new BaxError('internal_error', `internal error: ${reason.split('\n')[0]}`, { hint, cause: thrown })
  try {
    const { stateDir } = readSettings({}, io)
    const path = localFiles(stateDir).cliLog
    const { openStateDir } = await import('../../core/state/state-dir.ts')
    const { openLogFile } = await import('../../server/process/log-file.ts')
    await openStateDir(stateDir)
    openLogFile(path)('error', reason, { stack: thrown instanceof Error ? thrown.stack : undefined })
    return bug(`see ${path} for details`)
  } catch (error) {
    return bug(`make the state folder writable: cannot write the log: ${messageOf(error)}`)
  }
}

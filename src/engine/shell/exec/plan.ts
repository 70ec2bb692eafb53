/** From what is asked to what is run: environment, working folder, input and bounds. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { ShellLanguage } from '../../../core/shapes/shell/session.ts'
import type { ShellContainer } from '../container.ts'
import type { ExecSpec, TerminalSize } from '../container-exec.ts'
import { bytesOf } from './input-bytes.ts'
import { programOf } from './programs.ts'

/** What a session says about all its commands. */
export interface SessionTerms {
  readonly language: ShellLanguage
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** The fields that every way of running a command has. */
export interface Wanted {
  readonly command?: string | undefined
  readonly code?: string | undefined
  readonly language?: ShellLanguage | undefined
  readonly argv?: readonly string[] | undefined
  readonly timeout_secs: number
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly stdin?: string | undefined
  readonly stdin_encoding: 'utf8' | 'base64'
  readonly keep_stdin: boolean
  readonly user: 'user' | 'root'
  readonly pty?: TerminalSize | undefined
}

/** The program, and the input that is written to it before more may come. */
export interface ExecPlan {
  readonly spec: ExecSpec
  readonly firstInput: Uint8Array | undefined
}

/** @throws BaxError `feature_disabled`, `unsupported`, `payload_too_large` or `invalid_request`. */
export async function planExec(
  wanted: Wanted,
  terms: SessionTerms,
  container: ShellContainer,
  outputLimit: number | undefined,
): Promise<ExecPlan> {
  if (wanted.user === 'root') {
    throw new BaxError('feature_disabled', 'commands of shell sessions do not run as root', {
      hint: 'leave user out; what needs root belongs into the image',
    })
  }
  const { stdin, stdin_encoding, keep_stdin, pty, timeout_secs, cwd, env } = wanted
  const given = stdin === undefined ? undefined : bytesOf(stdin, stdin_encoding, 'stdin')
  const isOpen = keep_stdin || pty !== undefined
  const program = await programOf(wanted, wanted.language ?? terms.language, container)
  return {
    firstInput: isOpen ? given : undefined,
    spec: {
      ...program,
      cwd: cwd === undefined ? terms.cwd : cwd.startsWith('/') ? cwd : `${terms.cwd}/${cwd}`,
      env: { ...terms.env, ...(pty && { TERM: 'xterm-256color' }), ...env },
      stdin: isOpen ? 'pipe' : (given ?? 'none'),
      timeoutMs: Math.ceil(timeout_secs * 1000),
      ...(pty && { pty }),
      ...(outputLimit !== undefined && { outputLimit }),
    },
  }
}

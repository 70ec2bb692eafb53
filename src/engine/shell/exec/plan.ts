/** Plans a command: environment, working folder, input and limits. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { ExecStreamInput } from '../../../core/shapes/shell/exec.ts'
import type { ShellSessionInput } from '../../../core/shapes/shell/session.ts'
import type { ShellContainer } from '../interface.ts'
import type { ExecSpec } from '../container-exec.ts'
import { bytesOf } from './characters.ts'
import { programOf } from './programs.ts'

/** Defaults of a session for all its commands. */
export type SessionDefaults = Pick<ShellSessionInput, 'language' | 'cwd' | 'env'>

/** Fields of all requests that run a command. */
export type ExecRequest = Omit<ExecStreamInput, 'session_id' | 'encoding' | 'max_output_bytes' | 'on_disconnect'>

/**
 * Returns the program to run, and the input to write before that of the caller.
 * @throws BaxError `feature_disabled`, `unsupported`, `payload_too_large` or `invalid_request`.
 */
export async function planExec(
  request: ExecRequest,
  terms: SessionDefaults,
  container: ShellContainer,
  outputLimit: number | undefined,
): Promise<{ spec: ExecSpec; firstInput: Uint8Array | undefined }> {
  if (request.user === 'root') {
    throw new BaxError('feature_disabled', 'commands of shell sessions do not run as root', {
      hint: 'omit user, and install what needs root in the image',
    })
  }
  const { stdin, stdin_encoding, keep_stdin, pty, timeout_secs, cwd, env } = request
  const input = stdin === undefined ? undefined : bytesOf(stdin, stdin_encoding, 'stdin')
  const isOpen = keep_stdin || pty !== undefined
  const program = await programOf(request, request.language ?? terms.language, container)
  return {
    firstInput: isOpen ? input : undefined,
    spec: {
      ...program,
      cwd: cwd === undefined ? terms.cwd : cwd.startsWith('/') ? cwd : `${terms.cwd}/${cwd}`,
      env: { ...terms.env, ...(pty && { TERM: 'xterm-256color' }), ...env },
      stdin: isOpen ? 'pipe' : (input ?? 'none'),
      timeoutMs: Math.ceil(timeout_secs * 1000),
      ...(pty && { pty }),
      ...(outputLimit !== undefined && { outputLimit }),
    },
  }
}

/** The parts of `bax mcp` that tools for files of its machine use. */
import type { UploadTools } from '../client/upload-files.ts'
import type { ActionKind } from '../core/access/approvals.ts'

export interface LocalHost {
  /** Folder of the files that the client may upload. */
  readonly cwd: string
  readonly stdin: AsyncIterable<string | Uint8Array>
  readonly stdout: Output
  /** Aborted when the process is asked to stop. */
  readonly signal: AbortSignal
  /** Prints a line for people. */
  readonly note: (line: string) => void
  /** Reads a file, with progress on the terminal. */
  readonly read: UploadTools['read']
  /** Runs a script as `bax run` does, without environment variables, which may be secrets. */
  readonly runScript: (run: ScriptRun) => Promise<ScriptReport>
}

interface Output {
  write(text: string, done?: () => void): unknown
  /** Present on streams, which call back when a text is written. */
  readonly on?: unknown
}

interface ScriptRun {
  /** Folder of the script. */
  readonly cwd: string
  readonly file: string
  readonly vars: Readonly<Record<string, string>>
  readonly confirm: readonly ActionKind[] | undefined
  readonly signal: AbortSignal
  /** Called with the ID of its session. */
  readonly onSession: (id: string) => void
}

interface ScriptReport {
  readonly text: string
  readonly passed: boolean
}

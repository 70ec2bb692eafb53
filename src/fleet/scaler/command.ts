/** Runs a program of the operator that creates and removes workers. */
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { limits } from '../../core/limits/limits.ts'
import { type Scaler, ScalerError } from './scaler.ts'

/** Time for output that the program wrote before its end. */
const lateOutputMs = 200

export interface CommandOptions {
  /** Path of a program, or its name on the PATH. */
  readonly program: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Working folder, in which relative paths start too. */
  readonly cwd: string
  /** Time for the program, in milliseconds. */
  readonly timeoutMs?: number
}

export class CommandScaler implements Scaler {
  readonly removal = 'exited'
  readonly #options: CommandOptions

  constructor(options: CommandOptions) {
    this.#options = options
  }

  describe(): string {
    return `program ${this.#options.program}`
  }

  async current(): Promise<undefined> {
    return undefined
  }

  want(count: number): Promise<void> {
    const { program, env, cwd, timeoutMs = limits.scaling.commandMs } = this.#options
    const path = program.includes('/') ? resolve(cwd, program) : program
    return new Promise((done, fail) => {
      // In a process group of its own, so that a timeout also ends what it started.
      const child = spawn(path, [String(count)], {
        cwd,
        env: { ...env, BAX_FLEET_WANT: String(count) },
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: true,
      })
      let output = ''
      let timedOut = false
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-limits.scaling.errorChars)
      })
      const timer = setTimeout(() => {
        timedOut = true
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      }, timeoutMs)
      const failed = (reason: string, hint?: string) => {
        const said = output.trim()
        fail(new ScalerError(`${program} ${count} ${reason}${said && `: ${said}`}`, { hint }))
      }
      child.on('error', (error: NodeJS.ErrnoException) => {
        clearTimeout(timer)
        const reasons: Record<string, string> = { ENOENT: 'does not exist', EACCES: 'is not executable' }
        failed(reasons[error.code ?? ''] ?? `failed to start: ${error.message}`, 'correct --scaler command:PROGRAM')
      })
      // Programs in the background may keep the output open after the end of the program; they can go on writing.
      child.on('exit', (code, signal) => {
        clearTimeout(timer)
        const end = () => {
          clearTimeout(late)
          child.stderr.removeAllListeners('data').resume()
          ;(child.stderr as unknown as { unref(): void }).unref()
          if (timedOut) failed(`did not end within ${timeoutMs / 1000} s`)
          else if (signal) failed(`was ended by ${signal}`)
          else if (code !== 0) failed(`exited with ${code}`)
          else done()
        }
        const late = setTimeout(end, lateOutputMs)
        child.once('close', end)
      })
    })
  }
}

/** Runs an installer and hands its lines on. */
import { spawn } from 'node:child_process'
import { platform } from 'node:os'
import { createInterface } from 'node:readline'

export interface ProgramOutcome {
  /** Why it failed: its last words, or that it could not be started; undefined when it succeeded. */
  readonly problem: string | undefined
}

export type RunProgram = (program: string, args: readonly string[]) => Promise<ProgramOutcome>

/** A runner that reports every line; aborting the signal ends the program and rejects. */
export function programRunner(
  report: (line: string) => void,
  signal: AbortSignal | undefined,
  env: NodeJS.ProcessEnv,
): RunProgram {
  return (program, args) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env,
        shell: platform() === 'win32',
        ...(signal && { signal }),
      })
      const words: string[] = []
      const hear = (line: string) => {
        const text = line.trim()
        if (text === '') return
        words.push(text)
        report(`  ${text}`)
      }
      createInterface({ input: child.stdout }).on('line', hear)
      createInterface({ input: child.stderr }).on('line', hear)
      child.once('error', (error: NodeJS.ErrnoException) => {
        if (signal?.aborted) return reject(signal.reason as Error)
        const missing = error.code === 'ENOENT'
        resolve({ problem: missing ? `${program} is not installed` : error.message })
      })
      child.once('close', (code) => {
        const telling = words.findLast((word) => /error|fail|unable|E:/i.test(word)) ?? words.at(-1)
        resolve({ problem: code === 0 ? undefined : (telling ?? `${program} ended with code ${code}`) })
      })
    })
}

export const succeeded = ({ problem }: ProgramOutcome): boolean => problem === undefined

/** Runs installers and reports their output. */
import { spawn } from 'node:child_process'
import { platform } from 'node:os'
import { createInterface } from 'node:readline'

/** Runs a program; resolves with the reason if it fails, from its output or its start. */
export type RunProgram = (program: string, args: readonly string[]) => Promise<string | undefined>

/** Returns a runner that reports every line of output; aborting the signal ends the program and rejects. */
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
      const lines: string[] = []
      const onLine = (line: string) => {
        const text = line.trim()
        if (text === '') return
        lines.push(text)
        report(`  ${text}`)
      }
      createInterface({ input: child.stdout }).on('line', onLine)
      createInterface({ input: child.stderr }).on('line', onLine)
      child.once('error', (error: NodeJS.ErrnoException) => {
        if (signal?.aborted) return reject(signal.reason as Error)
        resolve(error.code === 'ENOENT' ? `${program} is not installed` : error.message)
      })
      child.once('close', (code) => {
        const errorLine = lines.findLast((each) => /error|fail|unable|E:/i.test(each)) ?? lines.at(-1)
        resolve(code === 0 ? undefined : (errorLine ?? `${program} ended with code ${code}`))
      })
    })
}

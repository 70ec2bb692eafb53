/** Connects the tools of `bax mcp` to this terminal and its files. */
import type { LocalHost } from '../../mcp/local.ts'
import type { Context } from '../context.ts'
import { type Io, note } from '../io.ts'
import { fileReader } from '../output/progress.ts'

export function openMcpHost({ io, manifest, settings }: Context): LocalHost {
  const { cwd, stdin, stdout, signal } = io
  return {
    cwd,
    stdin,
    stdout,
    signal,
    note: (line) => note(io, line),
    read: fileReader(io),
    async runScript({ cwd: folder, file, vars, confirm, signal: cancelled, onSession }) {
      const chunks: string[] = []
      const output: Io['stdout'] = { write: (chunk) => chunks.push(String(chunk)), isTTY: false }
      const captured: Io = { ...io, stdout: output, stderr: output, env: {}, cwd: folder, signal: cancelled }
      const { runScripts } = await import('../run/index.ts')
      const reporters = [{ name: 'line' }] as const
      const options = {
        files: [file],
        vars,
        reporters,
        parallel: 1,
        retries: 0,
        onSession,
        ...(confirm && { confirm }),
      }
      const code = await runScripts(options, { io: captured, manifest, settings: { ...settings, json: false } })
      return { text: chunks.join(''), passed: code === 0 }
    },
  }
}

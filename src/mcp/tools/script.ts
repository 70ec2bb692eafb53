/** The tool that runs scripts of steps, as `bax run` does. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { Io } from '../../cli/io.ts'
import { limits } from '../../core/limits/limits.ts'
import { operations } from '../../operations/index.ts'
import { defineTool } from '../tool.ts'

export const browserScript = defineTool({
  name: 'browser_script',
  description: 'Run a YAML script of steps in a new session, as "bax run" does: "steps:" is a list such as "- navigate_to: URL", "- click: text=Save", "- get_title:".', // prettier-ignore
  uses: [operations.runCommands, operations.createSession],
  effect: 'destroy',
  local: true,
  unrestricted: true,
  input: z.object({
    script: z.string().min(1).max(limits.bodyBytes).describe(''),
    vars: z.record(z.string(), z.string()).optional().describe('Values of ${vars.name}'),
  }),
  async run({ connection, signal }, { script, vars = {} }) {
    const { io, manifest, settings } = connection.local!
    const folder = await mkdtemp(join(tmpdir(), 'bax-mcp-'))
    const sessions: string[] = []
    try {
      await writeFile(join(folder, 'script.yaml'), script, { mode: 0o600 })
      const chunks: string[] = []
      const output: Io['stdout'] = { write: (chunk) => chunks.push(String(chunk)), isTTY: false }
      // Environment variables of the client's machine may be secrets.
      const captured: Io = { ...io, stdout: output, stderr: output, env: {}, cwd: folder, signal }
      const { runScripts } = await import('../../cli/run/index.ts')
      const options = {
        files: ['script.yaml'],
        vars,
        reporters: [{ name: 'line' as const }],
        parallel: 1,
        retries: 0,
        onSession: (id: string) => {
          sessions.push(id)
          connection.scriptSessions.add(id)
        },
        ...(connection.options.confirm && { confirm: connection.options.confirm }),
      }
      const code = await runScripts(options, { io: captured, manifest, settings: { ...settings, json: false } })
      return { page: chunks.join('').trimEnd(), failed: code !== 0 }
    } finally {
      for (const id of sessions) connection.scriptSessions.delete(id)
      await rm(folder, { recursive: true, force: true })
    }
  },
})

/** The tool that runs scripts of steps, as `bax run` does. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { limits } from '../../core/limits/limits.ts'
import { operations } from '../../operations/index.ts'
import { defineTool } from '../tool.ts'

export const browserScript = defineTool({
  name: 'browser_script',
  description:
    'Run a YAML script in a new session: "steps:" is a list such as "- navigate_to: URL", "- click: text=Save", "- get_title:".',
  uses: [operations.runCommands, operations.createSession],
  effect: 'destroy',
  local: true,
  unrestricted: true,
  input: z.object({
    script: z.string().min(1).max(limits.bodyBytes).describe(''),
    vars: z.record(z.string(), z.string()).optional().describe('Values of ${vars.name}'),
  }),
  async run({ connection, signal }, { script, vars = {} }) {
    const folder = await mkdtemp(join(tmpdir(), 'bax-mcp-'))
    const sessions: string[] = []
    try {
      await writeFile(join(folder, 'script.yaml'), script, { mode: 0o600 })
      const { text, passed } = await connection.local!.runScript({
        cwd: folder,
        file: 'script.yaml',
        vars,
        confirm: connection.options.confirm,
        signal,
        onSession: (id) => {
          sessions.push(id)
          connection.scriptSessions.add(id)
        },
      })
      return { page: text.trimEnd(), failed: !passed }
    } finally {
      for (const id of sessions) connection.scriptSessions.delete(id)
      await rm(folder, { recursive: true, force: true })
    }
  },
})

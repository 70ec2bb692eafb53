/** `bax mcp`: serves the tools of bax to an agent. */
import { addParam } from '../../lines/flags.ts'
import { locateEngine } from '../engine/locate-engine.ts'
import { openMcpHost } from '../mcp/host.ts'
import { mcpParams } from '../mcp/params.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { readParams } from '../../lines/typed.ts'

export const command: TerminalCommand = {
  cli: 'mcp',
  summary: 'Serve tools to agents over MCP',
  example: ['bax mcp', 'bax mcp --tools browser,scrape --allowed-domains example.com', 'bax mcp --read-only'],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      for (const one of Object.values(mcpParams)) addParam(command, one)
    })
    const [{ readOptions }, { serveStdio }] = await Promise.all([
      import('../../mcp/options.ts'),
      import('../../mcp/stdio.ts'),
    ])
    const options = readOptions(readParams(mcpParams, typed.flags, context.io.cwd), context.manifest)
    const { transport, kind } = locateEngine(context, { when: 'start' })
    const local = openMcpHost(context)
    await serveStdio({ transport, manifest: context.manifest, options, local, isServer: kind === 'server' })
  },
}

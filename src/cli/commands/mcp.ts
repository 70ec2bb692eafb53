/** `bax mcp`: serves the tools of bax to an agent. */
import { kindNames } from '../../core/access/approvals.ts'
import { param } from '../serve/param.ts'
import { addParam } from '../../lines/flags.ts'
import { locateEngine } from '../engine/locate-engine.ts'
import { openMcpHost } from '../mcp/host.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { readParams } from '../../lines/typed.ts'

const params = {
  tools: param('tools', 'tools to offer: all, or some of browser, scrape, shell and relay', { type: 'string[]' }),
  caps: param('caps', 'further families of browser commands, such as cookies and network, or all', {
    type: 'string[]',
  }),
  allowedDomains: param(
    'allowed_domains',
    'hosts that pages and scrapes may reach, such as example.com or *.example.com',
    {
      type: 'string[]',
    },
  ),
  confirm: param('confirm', `actions that wait for a person: ${kindNames.join(', ')}`, { type: 'string[]' }),
  readOnly: param('read_only', 'offer only tools that change nothing', { type: 'boolean', default: false }),
  contentBoundaries: param('content_boundaries', 'enclose text of pages in random markers; on by default', {
    type: 'boolean',
  }),
}

export const command: TerminalCommand = {
  cli: 'mcp',
  summary: 'Serve tools to agents over MCP',
  example: ['bax mcp', 'bax mcp --tools browser,scrape --allowed-domains example.com', 'bax mcp --read-only'],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      for (const one of Object.values(params)) addParam(command, one)
    })
    const [{ readOptions }, { serveStdio }] = await Promise.all([
      import('../../mcp/options.ts'),
      import('../../mcp/stdio.ts'),
    ])
    const options = readOptions(readParams(params, typed.flags, context.io.cwd), context.manifest)
    const { transport, kind } = locateEngine(context, { when: 'start' })
    const local = openMcpHost(context)
    await serveStdio({ transport, manifest: context.manifest, options, local, isServer: kind === 'server' })
  },
}

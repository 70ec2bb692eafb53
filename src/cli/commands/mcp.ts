/** `bax mcp`: serves the tools of bax to an agent. */
import { kindNames } from '../../core/access/approvals.ts'
import { param } from '../serve/param.ts'
import type { Param } from '../../core/operation/params.ts'
import { addParam } from '../parse/flags.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { flagValue } from '../parse/values.ts'

const params: readonly Param[] = [
  param('tools', 'tools to offer: all, or some of browser, scrape, shell and relay', { type: 'string[]' }),
  param('caps', 'further families of browser commands, such as cookies and network, or all', { type: 'string[]' }),
  param('allowed_domains', 'hosts that pages and scrapes may reach, such as example.com or *.example.com', {
    type: 'string[]',
  }),
  param('confirm', `actions that wait for a person: ${kindNames.join(', ')}`, { type: 'string[]' }),
  param('read_only', 'offer only tools that change nothing', { type: 'boolean', default: false }),
  param('content_boundaries', 'enclose text of pages in random markers; on by default', { type: 'boolean' }),
]

export const command: TerminalCommand = async (invocation) => {
  const { context, typed } = parseInvocation(invocation, (command) => {
    for (const one of params) addParam(command, one)
  })
  const [{ readOptions }, { serveStdio }] = await Promise.all([
    import('../../mcp/options.ts'),
    import('../../mcp/stdio.ts'),
  ])
  const read = (name: string) =>
    flagValue(
      params.find((one) => one.name === name)!,
      typed.flags,
      context.io.cwd,
    )
  const options = readOptions(
    {
      tools: read('tools') as string[] | undefined,
      caps: read('caps') as string[] | undefined,
      allowedDomains: read('allowed_domains') as string[] | undefined,
      confirm: read('confirm') as string[] | undefined,
      readOnly: read('read_only') as boolean | undefined,
      contentBoundaries: read('content_boundaries') as boolean | undefined,
    },
    context.manifest,
  )
  await serveStdio(context, options)
}

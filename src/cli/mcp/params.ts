/** Flags that choose what an agent may do, of `bax mcp` and of the entry that `bax mcp install` writes. */
import { kindNames } from '../../core/access/approvals.ts'
import { param } from '../serve/param.ts'

export const mcpParams = {
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
  insecure: param('insecure', 'accept any TLS certificate in browser sessions', { type: 'boolean', default: false }),
  contentBoundaries: param('content_boundaries', 'enclose text of pages in random markers; on by default', {
    type: 'boolean',
  }),
}

/** `bax scrape`: scrapes pages to standard output or files. */
import { addParam } from '../../lines/flags.ts'
import { textFlag } from '../../lines/typed.ts'
import { locateEngine, type Need } from '../engine/locate-engine.ts'
import { noEngineFor } from '../session/chosen-session.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { addIdentityFlags, addProxyFlag } from '../scrape/identity-flags.ts'
import { addFormatFlags } from '../scrape/format-flags.ts'
import { scrapeFields, scrapePages } from '../scrape/scrape-pages.ts'

export const command: TerminalCommand = {
  cli: 'scrape <url…>',
  summary: 'Scrape pages into Markdown, data or screenshots',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.argument('[url...]', 'URLs to scrape; - for a list of URLs on standard input')
      command.option('--file <path>', 'file with one URL per line; lines starting with # are ignored')
      for (const param of scrapeFields(invocation.manifest)) addParam(command, param)
      addFormatFlags(command)
      addIdentityFlags(command)
      addProxyFlag(command)
      command.option('-s, --session <id|name>', 'session whose cookies are used; it keeps those it receives')
      command.option('-o, --output <file|folder>', 'file for the page; folder for several pages or formats')
      command.option('--ndjson', 'print one JSON response per line')
      command.option('--fail-on-status', 'fail if a page has an HTTP error status')
    })
    const open = async () => (await import('../engine/embedded-scraper.ts')).openScraper(context)
    const session = textFlag(typed.flags, 'session')
    const need: Need = session === undefined ? { when: 'ask' } : { when: 'running', absent: noEngineFor(session) }
    return scrapePages(context, typed, locateEngine(context, need, open))
  },
}

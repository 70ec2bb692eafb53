/** `bax scrape`: scrapes pages to standard output or files. */
import { addParam } from '../../lines/flags.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { addIdentityFlags, addProxyFlag, addSessionFlag } from '../scrape/identity-flags.ts'
import { addFormatFlags } from '../scrape/format-flags.ts'
import { locateScraper } from '../scrape/locate-scraper.ts'
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
      addSessionFlag(command)
      command.option('-o, --output <file|folder>', 'file for the page; folder for several pages or formats')
      command.option('--ndjson', 'print one JSON response per line')
      command.option('--fail-on-status', 'fail if a page has an HTTP error status')
    })
    return scrapePages(context, typed, locateScraper(context, typed.flags))
  },
}

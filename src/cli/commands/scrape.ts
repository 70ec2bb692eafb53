/** `bax scrape`: one page or many, to standard output or into files. */
import { addParam } from '../parse/flags.ts'
import { openHome } from '../engine/locate-engine.ts'
import { begin, type TerminalCommand } from '../parse/invocation.ts'
import { scrapeFields, scrapePages } from '../scrape/scrape-pages.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const { context, typed } = begin(invocation, (command) => {
      command.argument('[url...]', 'pages to scrape; - reads addresses from standard input, one a line')
      command.option('--file <path>', 'file of addresses, one a line; lines that begin with # are left out')
      for (const param of scrapeFields(invocation.manifest)) addParam(command, param)
      command.option('--prompt <text>', 'what the json format is to find, in words')
      command.option('--schema <json|@file>', 'JSON schema of what the json format is to find')
      command.option('-o, --output <file|folder>', 'write here; several pages or formats go into a folder')
      command.option('--ndjson', "print the service's answers, one a line")
      command.option('--fail-on-status', 'a page with an HTTP error status is a failure')
    })
    return scrapePages(context, typed, openHome(context, { when: 'ask' }))
  },
}

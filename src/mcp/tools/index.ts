/** All tools, in the order of the list that clients receive. */
import type { Connection } from '../connection.ts'
import { groupOf, type Tool } from '../tool.ts'
import { browserAct, browserObserve, browserOpen, browserWait } from './browser.ts'
import { browserCode } from './code.ts'
import { webCrawl } from './crawl.ts'
import { browserExtract, browserScreenshot, browserSession } from './page.ts'
import { browserHandoff } from './handoff.ts'
import { relay } from './relay.ts'
import { webMap, webScrape, webSearch } from './scrape.ts'
import { browserScript } from './script.ts'
import { browserSessionScript } from './session-script.ts'
import { shellExec, shellFiles } from './shell.ts'

export const tools: readonly Tool[] = [
  browserOpen,
  browserObserve,
  browserAct,
  browserWait,
  browserExtract,
  browserScreenshot,
  browserSession,
  browserHandoff,
  browserCode,
  browserScript,
  browserSessionScript,
  webScrape,
  webCrawl,
  webMap,
  webSearch,
  shellExec,
  shellFiles,
  relay,
]

/** Returns the tools that a client may use. */
export function toolsFor(connection: Connection): Tool[] {
  const { groups, readOnly, allowedDomains } = connection.options
  return tools.filter(
    (tool) =>
      groups.includes(groupOf(tool)) &&
      (!readOnly || tool.effect === 'read') &&
      (!allowedDomains || !tool.unrestricted) &&
      (!tool.local || connection.local !== undefined) &&
      tool.uses.every((operation) => connection.mayCall(operation)),
  )
}

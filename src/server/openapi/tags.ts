/** OpenAPI tags: operations grouped by the first segment of their path, or by their own tag. */
import type { HttpOperation } from '../../core/operation/operation.ts'
import { route } from '../../core/operation/route.ts'

const descriptions: Record<string, string> = {
  approvals: 'Actions that wait for a person',
  batch: 'Lists of pages, scraped in the background',
  browser_step: 'Run commands and get their effect on the page',
  cdp: 'Single methods of the Chrome DevTools Protocol; the websockets in `x-websockets` offer all of it',
  code: 'JavaScript whose functions are the commands and operations',
  commands: 'Batches of browser commands that act on pages and read them',
  crawl: 'Crawls of whole sites, as one response, as a background job, or as a stream',
  credentials: 'Stored log-ins, which commands use and nobody can read',
  diagnostics: 'Diagnostics of a session, for debugging',
  engine: 'Status and shutdown of the engine',
  extract: 'Data from lists of pages',
  fleet: 'Workers behind a gateway',
  handoffs: 'Sessions that wait for a person to take over',
  keys: 'API keys, created and revoked by the operator',
  live_view: 'Web pages that show a running session to people',
  map: 'The URLs of a site',
  observe: 'Elements and text of a page, with references for commands',
  parse: 'Uploaded documents in the requested formats',
  profiles: 'Saved cookies and storage, for sessions that start logged in',
  relay: "Users' own browsers, connected with `bax relay connect`",
  request: 'Single HTTP requests with the cookies of a session',
  scrape: 'One page in the requested formats',
  search: 'Web search, optionally with the pages of the results',
  sessions: 'Browser sessions',
  shell: 'Containers with a shell: commands, files and artifacts',
  team: 'Use of the server, for clients of Firecrawl',
  stream: 'Events of a session as they happen, as server-sent events or one JSON object a line',
}

/** Returns the tag of an operation. Chrome's `/json` is a further URL of operations on sessions. */
export function tagOf({ tag, http }: Pick<HttpOperation, 'tag' | 'http'>): string {
  const segment = route(http)
    .path.split('/')
    .find((part) => part && !/^v\d+$/.test(part))!
  return tag ?? (segment === 'json' ? 'cdp' : segment)
}

export const describeTags = (used: ReadonlySet<string>) =>
  [...used].toSorted().map((name) => ({ name, description: descriptions[name] }))

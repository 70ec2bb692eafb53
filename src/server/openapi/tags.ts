/** Groups of operations, by the first word of their path. */
import { route } from '../../core/operation/operation.ts'

const descriptions: Record<string, string> = {
  browser_step: 'Run commands and see what they did to the page',
  cdp: 'The Chrome DevTools Protocol, method by method; the websockets of `x-websockets` speak it whole',
  commands: 'Batches of browser commands: what a person could do with the page, and what can be read from it',
  crawl: 'Whole sites, page by page, as an answer, as a job that goes on by itself, or as a stream',
  diagnostics: 'What a session did, for the search of a fault',
  engine: 'The engine itself: its state and its end',
  keys: 'Keys of callers, made and revoked by the operator',
  live_view: 'Pages that show a session as it is, for people',
  map: 'The addresses of a site',
  observe: 'What a page shows and offers, and how to name it',
  profiles: 'Saved cookies and storage, for sessions that begin logged in',
  relay: "Users' own browsers, brought by `bax relay connect`",
  scrape: 'One page in the formats that are asked for',
  search: 'The web, with the pages of the results where formats are asked for',
  sessions: 'Browser sessions, from their creation to their end',
  shell: 'Containers with a shell: commands, files, and the artifacts that they leave',
  stream: 'Events of a session as they happen, as server-sent events or one JSON object a line',
}

/** Addresses that belong to a group of another name. */
const elsewhere: Record<string, string> = { healthz: 'engine', json: 'cdp', readyz: 'engine', metrics: 'engine' }

/** The group of an operation. */
export function tagOf(http: string): string {
  const word = route(http)
    .path.split('/')
    .find((part) => part && !/^v\d+$/.test(part))!
  return elsewhere[word] ?? word
}

/** The groups that are in use, described. */
export const describeTags = (used: ReadonlySet<string>) =>
  [...used].toSorted().map((name) => ({ name, description: descriptions[name] }))

import { defineOperation } from '../core/operation/operation.ts'
import { searchAnswer, searchInput } from '../core/shapes/search.ts'

export const search = defineOperation({
  summary: 'Search the web and scrape the results',
  description:
    'Queries the configured providers in order (searxng, brave, serper, google, then the result pages of duckduckgo and ' +
    'bing) until one succeeds. Results whose pages cannot be scraped stay in the list, with the reason in ' +
    '`content.metadata`. If all providers fail, `details` contains the failure of each.',
  http: 'POST /v1/search',
  scope: 'scrape',
  aliases: ['POST /search'],
  cli: 'search <query>',
  example: "bax search 'how river deltas grow' --limit 3 --formats markdown",
  input: searchInput,
  output: searchAnswer,
  errors: ['search_unavailable', 'session_not_found', 'session_closed', 'url_blocked'],
  heavy: true,
  run: (engine, input, call) => engine.searcher.search(input, call),
})

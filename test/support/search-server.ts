/** All search engines on 127.0.0.1, each below its own path, with scripted responses. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { SearchAccess, SearchConfig } from '../../src/core/config/search-providers.ts'
import { type SearchProviderName, searchProviderNames } from '../../src/core/config/search-providers.ts'
import {
  type EngineRequest,
  brave,
  type Engine,
  google,
  type Hit,
  type ResponseMode,
  searxng,
  serper,
} from './search-apis.ts'
import { bing, duckduckgo } from './search-pages.ts'

const engines: Record<SearchProviderName, Engine> = { searxng, brave, serper, google, duckduckgo, bing }

/** Responses of engines, and failures in transit. */
export type ServerMode = ResponseMode | 'not json' | 'unknown format' | 'cut off' | 'silent' | 'redirects' | 'down'

export interface SearchServer {
  /** Received requests, in order. */
  readonly requests: (EngineRequest & { readonly provider: SearchProviderName })[]
  /** Returns the settings that select only these providers. */
  config(...names: SearchProviderName[]): SearchConfig
  /** Returns the same as environment variables. */
  env(...names: SearchProviderName[]): Record<string, string>
  /** Sets the results of all engines. */
  setResults(hits: readonly Hit[]): void
  /**
   * Sets how an engine responds to the next requests; the last one is repeated until `reset()`. Equal requests get the same
   * response, because a browser may send the request of an earlier search after that has timed out.
   */
  setModes(provider: SearchProviderName, ...modes: readonly ServerMode[]): void
  reset(): void
  close(): Promise<void>
}

export async function serveSearch(): Promise<SearchServer> {
  const requests: SearchServer['requests'] = []
  const modesByProvider = new Map<SearchProviderName, ServerMode[]>()
  const modesByRequest = new Map<string, ServerMode>()
  let hits: readonly Hit[] = []
  const server = createServer((request, response) => void handle(request, response))
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url!, 'http://x')
    const [, name, ...rest] = url.pathname.split('/') as [string, SearchProviderName, ...string[]]
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const received = {
      provider: name,
      path: `/${rest.join('/')}`,
      query: url.searchParams,
      headers: request.headers,
      body,
    }
    if (!Object.hasOwn(engines, name)) return void response.writeHead(404).end()
    requests.push(received)
    const modes = modesByProvider.get(name) ?? ['ok' as const]
    const key = `${request.url} ${body}`
    const mode = modesByRequest.get(key) ?? (modes.length > 1 ? modes.shift()! : modes[0]!)
    modesByRequest.set(key, mode)
    respond(response, name, received, hits, mode)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const access = (name: SearchProviderName) => accessOf(`http://127.0.0.1:${port}`, name)
  return {
    requests,
    config: (...names) => ({ order: names, providers: Object.fromEntries(names.map((name) => [name, access(name)])) }),
    env: (...names) => ({
      BAX_SEARCH_PROVIDERS: names.join(','),
      ...Object.fromEntries(
        names.flatMap((name) =>
          Object.entries(access(name)).map(([field, value]) => [`BAX_${name}_${field}`.toUpperCase(), value]),
        ),
      ),
    }),
    setResults: (next) => void (hits = next),
    setModes(provider, ...modes) {
      modesByProvider.set(provider, [...modes])
      modesByRequest.clear()
    },
    reset() {
      modesByProvider.clear()
      modesByRequest.clear()
      requests.length = 0
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Returns the settings of a provider. */
function accessOf(base: string, name: SearchProviderName): SearchAccess {
  const { path = '', access } = engines[name]
  return { ...access, url: `${base}/${name}${path}` }
}

function respond(
  response: ServerResponse,
  name: SearchProviderName,
  request: EngineRequest,
  hits: readonly Hit[],
  mode: ServerMode,
): void {
  switch (mode) {
    case 'silent':
      return
    case 'down':
      return void response.destroy()
    case 'redirects':
      return void response.writeHead(302, { location: 'https://login.invalid/' }).end()
    case 'not json':
      return void response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><title>Sign in</title><h1>Sign in to the network</h1>')
    case 'unknown format':
      return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":{"hits":[1,2]}}')
    case 'cut off':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      return void response.write('{"results":[', () => response.destroy())
  }
  const answer = engines[name].answer(request, hits, mode)
  if (!answer) return void response.writeHead(404).end()
  response.writeHead(answer.status ?? 200, { 'content-type': answer.type ?? 'text/html' }).end(answer.body)
}

export { searchProviderNames, type Hit }

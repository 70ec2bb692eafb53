/** All search engines on 127.0.0.1, each below its own path, with scripted responses. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { SearchAccess, SearchConfig } from '../../src/core/config/search-providers.ts'
import { type SearchProviderName, searchProviderNames } from '../../src/core/config/search-providers.ts'
import { type Asked, brave, type Engine, google, type Hit, keys, type Mood, searxng, serper } from './search-apis.ts'
import { bing, duckduckgo } from './search-pages.ts'

const engines: Record<SearchProviderName, Engine> = { searxng, brave, serper, google, duckduckgo, bing }

/** Responses of engines, and failures in transit. */
export type Manner = Mood | 'no json' | 'another form' | 'cut off' | 'silent' | 'redirects' | 'down'

export interface SearchServer {
  /** Received requests, in order. */
  readonly asked: (Asked & { readonly provider: SearchProviderName })[]
  /** Returns the settings that select only these providers. */
  config(...names: SearchProviderName[]): SearchConfig
  /** Returns the same as environment variables. */
  env(...names: SearchProviderName[]): Record<string, string>
  /** Sets the results of all engines. */
  knows(hits: readonly Hit[]): void
  /** Sets how an engine responds to the next requests; the last manner is repeated until `well()`. */
  mood(provider: SearchProviderName, ...manners: readonly Manner[]): void
  well(): void
  close(): Promise<void>
}

export async function serveSearch(): Promise<SearchServer> {
  const asked: SearchServer['asked'] = []
  const moods = new Map<SearchProviderName, Manner[]>()
  let hits: readonly Hit[] = []
  const server = createServer((request, response) => void handle(request, response))
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url!, 'http://x')
    const [, name, ...rest] = url.pathname.split('/') as [string, SearchProviderName, ...string[]]
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const question = {
      provider: name,
      path: `/${rest.join('/')}`,
      query: url.searchParams,
      headers: request.headers,
      body,
    }
    if (!Object.hasOwn(engines, name)) return void response.writeHead(404).end()
    asked.push(question)
    const manners = moods.get(name) ?? ['well' as const]
    say(response, name, question, hits, manners.length > 1 ? manners.shift()! : manners[0]!)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const access = accessTo(`http://127.0.0.1:${port}`)
  return {
    asked,
    config: (...names) => ({ order: names, providers: Object.fromEntries(names.map((name) => [name, access[name]])) }),
    env: (...names) => ({
      BAX_SEARCH_PROVIDERS: names.join(','),
      ...Object.fromEntries(names.flatMap((name) => Object.entries(access[name]).map(([field, value]) => [`BAX_${name}_${field}`.toUpperCase(), value]))), // prettier-ignore
    }),
    knows: (next) => void (hits = next),
    mood: (provider, ...manners) => void moods.set(provider, [...manners]),
    well() {
      moods.clear()
      asked.length = 0
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function accessTo(base: string): Record<SearchProviderName, SearchAccess> {
  const at = (name: SearchProviderName) => `${base}/${name}`
  return {
    searxng: { url: at('searxng') },
    brave: { url: at('brave'), key: keys.brave },
    serper: { url: at('serper'), key: keys.serper },
    google: { url: at('google'), key: keys.google, cx: keys.cx },
    duckduckgo: { url: `${at('duckduckgo')}/html/` },
    bing: { url: `${at('bing')}/search` },
  }
}

function say(
  response: ServerResponse,
  name: SearchProviderName,
  asked: Asked,
  hits: readonly Hit[],
  manner: Manner,
): void {
  switch (manner) {
    case 'silent':
      return
    case 'down':
      return void response.destroy()
    case 'redirects':
      return void response.writeHead(302, { location: 'https://login.invalid/' }).end()
    case 'no json':
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Sign in</title><h1>Sign in to the network</h1>') // prettier-ignore
    case 'another form':
      return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":{"hits":[1,2]}}')
    case 'cut off':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      return void response.write('{"results":[', () => response.destroy())
  }
  const answer = engines[name].answer(asked, hits, manner)
  if (!answer) return void response.writeHead(404).end()
  response.writeHead(answer.status ?? 200, { 'content-type': answer.type ?? 'text/html' }).end(answer.body)
}

export { keys, searchProviderNames, type Hit }

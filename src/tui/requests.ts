/** Groups the network events of a page into requests. */
import type { RelayEvent } from '../core/shapes/relay.ts'

export type PageRequest = ReturnType<typeof requestOf>

/** Returns requests in the order in which they started. */
export function requestsOf(events: readonly RelayEvent[]): PageRequest[] {
  const found = new Map<string, RelayEvent[]>()
  for (const event of events) {
    const id = event.data['request_id']
    if (event.kind !== 'network' || typeof id !== 'string') continue
    const known = found.get(id)
    if (known) known.push(event)
    else found.set(id, [event])
  }
  return [...found].map(([id, own]) => requestOf(id, own))
}

function requestOf(id: string, events: readonly RelayEvent[]) {
  const fact = (name: string) => events.findLast(({ data }) => data[name] !== undefined)?.data[name]
  const [first] = events
  const last = events.at(-1)!
  const isOver = last.type === 'finished' || last.type === 'failed'
  return {
    id,
    url: String(events.find(({ data }) => data['url'] !== undefined)?.data['url'] ?? ''),
    method: String(fact('method') ?? ''),
    resource: String(fact('resource') ?? ''),
    status: (fact('status') as number | undefined) ?? null,
    bytes: (fact('bytes') as number | undefined) ?? null,
    problem: (fact('error') as string | undefined) ?? null,
    /** Milliseconds from the request to its last event. */
    ms: isOver ? Math.max(0, Math.round(last.ts - first!.ts)) : null,
    events,
  }
}

/** Returns a curl command that repeats the request. Headers with secrets stay redacted, as the engine sends them. */
export function curlOf({ url, method, events }: PageRequest): string {
  const sent = events.find(({ type }) => type === 'request')?.data['headers'] as Record<string, string> | undefined
  // curl sets the headers of each connection itself.
  const headers = Object.entries(sent ?? {}).filter(([name]) => !/^(?::|content-length$|host$|connection$)/i.test(name))
  return [
    `curl ${shellQuoted(url)}`,
    ...(method && method !== 'GET' ? [`-X ${shellQuoted(method)}`] : []),
    ...headers.map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    '--compressed',
  ].join(' \\\n  ')
}

const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

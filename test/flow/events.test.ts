import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { Frame } from '../../src/core/operation/call.ts'
import { follow } from '../../src/client/client.ts'
import { sessionEvent } from '../../src/core/shapes/events.ts'
import { inEveryHome } from '../support/commands.ts'
import { headerOf } from '../support/headers.ts'
import { failureOf } from '../support/session-steps.ts'

const served =
  (type: string, text: string, header: Record<string, string> = {}) =>
  (_: unknown, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': type, ...header })
    response.end(text)
  }

const pages = {
  '/': `<!doctype html><title>Start</title><script src=/script></script>
    <button id=ask onclick="prompt('Name?', 'Ann')">Ask</button><a id=pop href=/green target=_blank>Pop</a>
    <a id=file href=/file download>File</a>`,
  '/green': '<!doctype html><title>Green</title><body style="background:#0f0">',
  '/script': served(
    'text/javascript',
    `console.info('loaded'); setTimeout(() => { throw new Error('thrown') })
     fetch('http://ann:pass@127.0.0.1:1/?token=secret').catch(() => {}); fetch('http://127.0.0.1:1/?a=1&token=secret').catch(() => {})`,
  ),
  '/file': served('text/plain', 'content', { 'content-disposition': 'attachment; filename=report.txt' }),
}

type Event = Frame & { readonly data: Record<string, unknown> }

const seqs = (events: readonly Event[]) => events.map(({ seq }) => seq)
const types = (events: readonly Event[]) => events.map(({ type }) => type)
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)

inEveryHome(pages, (given) => {
  const create = async (): Promise<{ id: string; token: string }> => {
    const { session_id: id, frame_token: token } = await given.client().createSession({ headless: true })
    return { id: id!, token: token! }
  }
  const close = (id: string) => given.client().closeSession({ session_id: id })
  const run = (id: string, ...commands: [string, Record<string, unknown>?][]) =>
    given.client().runCommands({
      session_id: id,
      commands: commands.map(([command, data]) => ({ command, ...(data && { data }) })),
    } as never)
  const open = (id: string, path = '/') => run(id, ['navigate_to', { url: given.url(path) }])

  /** Reads a stream until it ends or `enough` returns true, then disconnects. */
  const read = async (
    input: Record<string, unknown>,
    enough: (events: readonly Event[]) => boolean = () => false,
  ): Promise<Event[]> => {
    const stop = new AbortController()
    const events: Event[] = []
    for await (const frame of follow(given.transport(), 'GET /stream/sse', input, { signal: stop.signal })) {
      events.push(frame as Event)
      if (enough(events)) break
    }
    stop.abort()
    return events
  }
  const has = (type: string) => (events: readonly Event[]) => events.at(-1)!.type === type

  /** Reads the raw response until `enough` returns true. */
  const raw = async (query: string, enough: (text: string) => boolean, headers: Record<string, string> = {}) => {
    const stop = new AbortController()
    const answer = await given
      .transport()
      .send({ method: 'GET', path: `/stream/sse?${query}`, headers, signal: stop.signal })
    let text = ''
    if (answer.status === 200) {
      for await (const chunk of answer.stream()) {
        text += Buffer.from(chunk).toString()
        if (enough(text)) break
      }
    }
    stop.abort()
    return { status: answer.status, type: headerOf(answer, 'content-type'), text }
  }

  test('events have sequence numbers and documented shapes, and secrets in URLs are redacted', async () => {
    const { id } = await create()
    const reading = read({ session_id: id, replay: 'all' })
    await open(id)
    await run(id, ['click', { selector: '#ask' }], ['click', { selector: '#file' }])
    await read({ session_id: id, replay: 'all', types: 'page.error' }, has('page.error'))
    await read({ session_id: id, replay: 'all', types: 'download.finished' }, has('download.finished'))
    await read({ session_id: id, replay: 'all', types: 'network.failed' }, has('network.failed'))
    await run(id, ['click', { selector: '#pop' }])
    await read({ session_id: id, replay: 'all', types: 'tab.opened' }, has('tab.opened'))
    await close(id)
    const events = await reading
    expect(seqs(events)).toEqual(range(1, events.length))
    for (const event of events) expect(sessionEvent.safeParse(event).error, JSON.stringify(event)).toBeUndefined()
    expect(new Set(types(events))).toEqual(
      new Set([
        'session.status',
        'session.closed',
        'command.started',
        'command.finished',
        'page.navigated',
        'page.loaded',
        'page.error',
        'console',
        'network.request',
        'network.response',
        'network.failed',
        'dialog.opened',
        'dialog.closed',
        'download.started',
        'download.finished',
        'tab.opened',
        'tab.closed',
      ]),
    )
    const of = (type: string) => events.find((event) => event.type === type)!.data
    expect(JSON.stringify(events)).not.toMatch(/secret|ann:pass/)
    expect(of('network.failed')).toMatchObject({ method: 'GET', resource_type: 'fetch', tab_id: 'tab_1' })
    expect(events.map(({ data }) => data['url'])).toContain('http://127.0.0.1:1/?a=1&token=[redacted]')
    expect(of('network.response')).toMatchObject({
      url: given.url('/'),
      status: 200,
      request_id: of('network.request')['request_id'],
    })
    expect(of('console')).toMatchObject({ level: 'info', text: 'loaded', url: given.url('/script'), line: 1 })
    expect(of('dialog.opened')).toMatchObject({
      type: 'prompt',
      kind: 'prompt',
      message: 'Name?',
      default_value: 'Ann',
      tab_id: 'tab_1',
    })
    expect(of('download.finished')).toMatchObject({ filename: 'report.txt', success: true, bytes: 7 })
    expect(of('tab.opened')).toMatchObject({ tab_id: 'tab_2', tabs: 2 })
    expect(events.at(-1)!.data).toEqual({ reason: 'deleted' })
  })

  test('without since or replay the stream starts with new events', async () => {
    const { id } = await create()
    await open(id)
    const reading = read({ session_id: id, types: 'command.started' }, has('command.started'))
    // The stream may be opened between two titles; the earlier navigation is never included.
    let done = false
    const commands = (async () => {
      while (!done) await run(id, ['get_title'])
    })()
    const [event] = await reading
    done = true
    await commands
    expect(event!.data['command']).toBe('get_title')
    await close(id)
  })

  test('an interrupted stream resumes without a gap', async () => {
    const { id } = await create()
    await open(id)
    const first = await read({ session_id: id, replay: 'all' }, (events) => events.length === 4)
    await run(id, ['get_title'], ['evaluate', { expression: 'console.log("between")' }])
    const rest = read({ session_id: id, since: first.at(-1)!.seq })
    await run(id, ['get_title'])
    await close(id)
    const events = [...first, ...(await rest)]
    expect(seqs(events)).toEqual(range(1, events.length))
    expect(events.filter(({ type }) => type === 'command.started')).toHaveLength(4)
  })

  test('an EventSource receives IDs and retry but no event names, and Last-Event-ID is applied', async () => {
    const { id } = await create()
    await open(id)
    const first = await raw(`session_id=${id}&replay=all`, (text) => text.includes('page.loaded'))
    expect(first).toMatchObject({ status: 200, type: 'text/event-stream; charset=utf-8' })
    const blocks = first.text.split('\n\n').slice(0, -1)
    expect(blocks[0]).toMatch(/^retry: 2000\nid: 1\n/)
    for (const [at, found] of blocks.entries()) {
      const block = found.replace('retry: 2000\n', '')
      expect(block).toMatch(/^id: \d+\ndata: \{.*\}$/)
      expect(block.split('\n')[0]).toBe(`id: ${at + 1}`)
      expect(JSON.parse(block.slice(block.indexOf('data: ') + 6))).toMatchObject({ seq: at + 1 })
    }
    const again = await raw(`session_id=${id}&replay=all`, (text) => text.includes('data:'), { 'last-event-id': '3' })
    expect(again.text).toContain('id: 4\n')
    expect(again.text).not.toContain('id: 3\n')
    await close(id)
    expect((await raw(`session_id=${id}`, () => true, { 'last-event-id': '3' })).status).toBe(204)
  })

  test('NDJSON has the same objects, one per line', async () => {
    const { id } = await create()
    await open(id)
    const enough = (text: string) => text.includes('page.loaded')
    const lines = await raw(`session_id=${id}&replay=all`, enough, { accept: 'application/x-ndjson' })
    const events = await raw(`session_id=${id}&replay=all`, enough)
    expect(lines.type).toBe('application/x-ndjson')
    expect(lines.text.trim().split('\n').slice(0, 5)).toEqual(
      [...events.text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data).slice(0, 5),
    )
    await close(id)
  })

  test('a reader that misses more than the buffer holds receives the number of dropped events', async () => {
    const { id } = await create()
    await open(id)
    // Every command has two events.
    for (let round = 0; round < 8; round++) await run(id, ...Array.from({ length: 100 }, (): [string] => ['get_url']))
    await run(id, ['evaluate', { expression: 'console.log("last")' }])
    const isLast = (events: readonly Event[]) => events.at(-1)!.data['text'] === 'last'
    await read({ session_id: id, replay: 'all' }, isLast)
    const [lagged, ...rest] = await read({ session_id: id, since: 2 }, isLast)
    expect(lagged!.type).toBe('lagged')
    expect(lagged!.data['dropped']).toBeGreaterThan(400)
    expect(lagged!.data).toEqual({ dropped: rest.at(-1)!.seq - 2 - rest.length })
    expect(types(rest)).toContain('page.navigated')
    await close(id)
  })

  test('types filters the events, but the end is always sent', async () => {
    const { id } = await create()
    const reading = read({ session_id: id, replay: 'all', types: 'page.navigated,console' })
    await open(id)
    await close(id)
    const events = await reading
    expect(new Set(types(events))).toEqual(new Set(['page.navigated', 'console', 'session.closed']))
    expect(await failureOf(read({ session_id: given.sessionId(), types: 'page.navigatd' }))).toMatchObject({
      code: 'invalid_request',
      status: 400,
      details: [{ path: 'types' }],
    })
  })

  test('a frame token opens the stream of its own session only', async () => {
    const [one, other] = [await create(), await create()]
    const events = await read({ session_id: one.id, token: one.token, replay: 'all' }, (all) => all.length > 0)
    expect(events[0]).toMatchObject({ type: 'session.status', data: { status: 'ready' } })
    for (const token of [other.token, 'ft_wrong', one.token.slice(0, -1)]) {
      expect(await failureOf(read({ session_id: one.id, token }))).toMatchObject({ code: 'unauthorized', status: 401 })
    }
    const unknown = failureOf(read({ session_id: 'ses_nobody', token: one.token }))
    expect(await unknown).toMatchObject({ code: 'session_not_found', status: 404 })
    await Promise.all([close(one.id), close(other.id)])
    expect(await read({ session_id: one.id, token: one.token })).toEqual([])
  })

  test('frame events have images of the active tab, and are not stored', async () => {
    const { id } = await create()
    await open(id)
    const reading = read({ session_id: id, types: 'frame' }, (all) =>
      all.some(({ data }) => data['tab_id'] === 'tab_2'),
    )
    await read({ session_id: id, types: 'frame' }, has('frame'))
    await run(id, ['click', { selector: '#pop' }])
    const events = await reading
    for (const { type, data } of events) {
      expect(type).toBe('frame')
      expect(Buffer.from(String(data['data']), 'base64').subarray(0, 3).toString('hex')).toBe('ffd8ff')
      expect(data).toMatchObject({ width: 1280, height: 720 })
    }
    expect(events[0]!.data['tab_id']).toBe('tab_1')
    const kept = await read({ session_id: id, replay: 'all' }, has('tab.opened'))
    expect(types(kept)).not.toContain('frame')
    await close(id)
  })

  test('a hundred readers receive every event', async () => {
    const { id } = await create()
    const readers = Array.from({ length: 100 }, () => read({ session_id: id, replay: 'all' }))
    await open(id)
    for (let count = 0; count < 20; count++) await run(id, ['get_title'])
    await close(id)
    const all = await Promise.all(readers)
    for (const events of all) expect(events).toEqual(all[0])
    expect(seqs(all[0]!)).toEqual(range(1, all[0]!.length))
  })
})

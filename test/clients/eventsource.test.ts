/** EventSource of npm and of the browser, with the events of a session. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packageModule } from '../support/packages.ts'
import { type Served, serveBax, servedWithinMs } from '../support/served.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { waitUntil } from '../support/wait.ts'

/** The used part of the EventSource interface. */
interface Source {
  onmessage: ((message: { data: string; lastEventId: string }) => void) | null
  readonly readyState: number
  close(): void
}
interface SourceModule {
  readonly EventSource: new (url: string, options?: { fetch?: typeof fetch }) => Source
}

const ended = 2

let served: Served
let EventSource: SourceModule['EventSource']
let line: Awaited<ReturnType<typeof startTcpProxy>>

beforeAll(async () => {
  served = await serveBax()
  line = await startTcpProxy(Number(new URL(served.url).port))
  ;({ EventSource } = await packageModule<SourceModule>('eventsource', '4.1.1', 'dist/index.js'))
}, servedWithinMs)
afterAll(async () => {
  await line.close()
  await served.close()
})

async function newSession() {
  const { session_id: id, frame_token: token } = (await served.request('POST', '/sessions', {
    headless: true,
  })) as Record<string, string>
  const run = (...expressions: string[]) =>
    served.request('POST', '/commands', {
      session_id: id,
      commands: expressions.map((expression) => ({ command: 'evaluate', data: { expression } })),
    })
  return {
    id: id!,
    run,
    path: `/stream/sse?session_id=${id}&token=${token}&types=console`,
    say: (...words: string[]) => run(...words.map((word) => `console.log(${JSON.stringify(word)})`)),
    close: () => served.request('DELETE', `/sessions/${id}`),
  }
}

/** Collects console texts and event numbers. */
function listen(source: Source) {
  const [words, ids]: [string[], number[]] = [[], []]
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is what this is about
  source.onmessage = ({ data, lastEventId }) => {
    const frame = JSON.parse(data) as { seq: number; type: string; data: { text?: string } }
    expect(lastEventId).toBe(String(frame.seq))
    ids.push(frame.seq)
    words.push(frame.type === 'console' ? frame.data.text! : frame.type)
  }
  return { words, ids }
}

describe('the EventSource of npm', () => {
  test('receives every event in onmessage, with the token in the URL', async () => {
    const session = await newSession()
    const source = new EventSource(`${served.url}${session.path}`)
    const { words } = listen(source)
    await waitUntil(() => source.readyState === 1)
    await session.say('one', 'two')
    await waitUntil(() => words.length === 2)
    expect(words).toEqual(['one', 'two'])
    source.close()
    await session.close()
  })

  test('receives them with the key in a header', async () => {
    const session = await newSession()
    const withKey: typeof fetch = (url, options) =>
      fetch(url, { ...options, headers: { ...options?.headers, authorization: `Bearer ${served.key}` } })
    const source = new EventSource(`${served.url}/stream/sse?session_id=${session.id}&types=console`, {
      fetch: withKey,
    })
    const { words } = listen(source)
    await waitUntil(() => source.readyState === 1)
    await session.say('one')
    await waitUntil(() => words.length === 1)
    source.close()
    await session.close()
  })

  test('misses no event during an interruption, and stops when the session ends', async () => {
    const session = await newSession()
    const source = new EventSource(`${line.url}${session.path}`)
    const { words, ids } = listen(source)
    await waitUntil(() => source.readyState === 1)
    await session.say('before')
    await waitUntil(() => words.length === 1)
    line.block()
    await session.say('cut 1', 'cut 2', 'cut 3')
    line.restore()
    await waitUntil(() => words.length === 4)
    await session.say('after')
    await waitUntil(() => words.length === 5)
    expect(words).toEqual(['before', 'cut 1', 'cut 2', 'cut 3', 'after'])
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    await session.close()
    await waitUntil(() => words.at(-1) === 'session.closed')
    // It reconnects once, and is told that there are no more events.
    await waitUntil(() => source.readyState === ended)
    expect(words).toHaveLength(6)
  })
})

test('fetch-event-source of Microsoft receives events and no empty messages', async () => {
  interface Message {
    readonly id: string
    readonly data: string
    readonly retry?: number
  }
  const { getLines, getMessages } = await packageModule<{
    getLines(onLine: (line: Uint8Array, fieldLength: number) => void): (chunk: Uint8Array) => void
    getMessages(
      onId: (id: string) => void,
      onRetry: (ms: number) => void,
      onMessage: (message: Message) => void,
    ): (line: Uint8Array, fieldLength: number) => void
  }>('@microsoft/fetch-event-source', '2.0.1', 'lib/esm/parse.js')
  const session = await newSession()
  const response = await fetch(`${served.url}${session.path}`)
  const messages: Message[] = []
  const retries: number[] = []
  const parse = getLines(
    getMessages(
      () => {},
      (ms) => retries.push(ms),
      (message) => messages.push(message),
    ),
  )
  const reading = (async () => {
    for await (const chunk of response.body!) parse(chunk as Uint8Array)
  })()
  await session.say('one', 'two')
  await session.close()
  await reading
  expect(messages.map(({ data }) => data).filter((data) => data === '')).toEqual([])
  const events = messages.map(({ data }) => JSON.parse(data) as { type: string; data: { text?: string } })
  expect(events.map(({ type, data }) => data.text ?? type)).toEqual(['one', 'two', 'session.closed'])
  expect(retries).toEqual([2000])
})

test('a stream accepts its token as Authorization: Bearer, too', async () => {
  const session = await newSession()
  const token = new URL(session.path, served.url).searchParams.get('token')
  const status = async (authorization: string) => {
    const controller = new AbortController()
    const url = `${served.url}/stream/sse?session_id=${session.id}`
    const response = await fetch(url, { headers: { authorization }, signal: controller.signal })
    controller.abort()
    return response.status
  }
  expect([await status(`Bearer ${token}`), await status('Bearer ft_wrong')]).toEqual([200, 401])
  await session.close()
})

test("the browser's own EventSource receives them in a page of the same origin", async () => {
  const [watched, page] = await Promise.all([newSession(), newSession()])
  await served.request('POST', '/commands', {
    session_id: page.id,
    commands: [{ command: 'navigate_to', data: { url: `${served.url}/openapi.json` } }],
  })
  const source = JSON.stringify(watched.path)
  await page.run(`window.heard = []; window.source = new EventSource(${source});
    source.onmessage = ({data}) => { const {type, data: {text}} = JSON.parse(data); heard.push(text ?? type) };
    new Promise((resolve) => source.onopen = () => resolve(true))`)
  await watched.say('one', 'two')
  await watched.close()
  const { results } = await page.run(`new Promise((resolve) => {
    const look = () => source.readyState === ${ended} ? resolve(heard) : setTimeout(look, 20)
    look()
  })`)
  expect(results).toMatchObject([{ data: { result: { value: ['one', 'two', 'session.closed'] } } }])
  await page.close()
})

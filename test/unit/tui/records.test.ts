import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RelayEvent } from '../../../src/core/shapes/relay.ts'
import { writeScript } from '../../../src/cli/tui/line.ts'
import { makeManifest } from '../../../src/operations/manifest.ts'
import type { FrameOf } from '../../../src/client/calls.ts'
import { noPages, positionOf, treeOf, withEvents } from '../../../src/tui/crawl-pages.ts'
import { History } from '../../../src/tui/hooks/use-history.ts'
import { Recording } from '../../../src/tui/hooks/use-recording.ts'
import { curlOf, requestsOf } from '../../../src/tui/requests.ts'

let folder: string
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'bax-tui-'))))
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('a recording', () => {
  test('opens its start page first, and uses stable selectors', () => {
    const recording = new Recording('https://shop.example/')
    recording.add([{ command: 'click', data: { selector: 'ref=e3' } }], new Map([['e3', '#buy']]))
    expect(recording.steps()).toEqual([
      { command: 'navigate_to', data: { url: 'https://shop.example/' } },
      { command: 'click', data: { selector: '#buy' } },
    ])
  })

  test('does not open its start page when its first command opens a page', () => {
    const recording = new Recording('https://shop.example/')
    recording.add([{ command: 'navigate_to', data: { url: 'https://other.example/' } }], new Map())
    expect(recording.steps()).toHaveLength(1)
  })

  test('becomes a script in the shortest form, with typed references escaped', async () => {
    const commands = [
      { command: 'navigate_to', data: { url: 'https://shop.example/' } },
      { command: 'type_text', data: { selector: '#q', text: 'costs ${5}', clear: true } },
      { command: 'get_title', data: {} },
    ]
    expect(await writeScript(commands, { name: 'shop' }, makeManifest())).toBe(
      'name: shop\nsteps:\n  - navigate_to: https://shop.example/\n' +
        '  - type_text:\n      selector: "#q"\n      text: costs $${5}\n      clear: true\n  - get_title\n',
    )
  })
})

describe('the history of lines', () => {
  test('is private, shared by terminals, and stores repeated lines once', async () => {
    const file = join(folder, 'history')
    const first = new History(file)
    await first.add('get-title')
    await first.add('get-title')
    const second = new History(file)
    await second.add('refresh')
    await first.add('click a')
    expect(new History(file).lines).toEqual(['get-title', 'refresh', 'click a'])
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })
})

describe('requests of a page', () => {
  const event = (seq: number, type: string, data: Record<string, unknown>): RelayEvent => ({
    seq,
    ts: seq * 10,
    received_at: '2026-01-01T00:00:00.000Z',
    kind: 'network',
    type,
    data: { request_id: 'r1', url: "https://shop.example/it's", ...data },
  })
  const events = [
    event(1, 'request', { method: 'POST', resource: 'fetch', headers: { accept: '*/*', Host: 'shop.example' } }),
    event(2, 'response', { status: 201 }),
    event(5, 'finished', { bytes: 12 }),
  ]

  test('are assembled from their events', () => {
    expect(requestsOf(events)).toMatchObject([
      { method: 'POST', resource: 'fetch', status: 201, bytes: 12, ms: 40, problem: null },
    ])
  })

  test('can be repeated with curl', () => {
    expect(curlOf(requestsOf(events)[0]!)).toBe(
      "curl 'https://shop.example/it'\\''s' \\\n  -X 'POST' \\\n  -H 'accept: */*' \\\n  --compressed",
    )
  })
})

describe('the pages of a crawl', () => {
  const site = 'https://docs.example'
  const event = (type: string, data: Record<string, unknown>) =>
    ({ seq: 1, ts: '', type, data }) as FrameOf<'crawlEvents'>
  const page = (path: string, depth: number, index: number) =>
    event('crawl.page', { url: site + path, depth, index, page: { metadata: { title: `Page ${index}` } } })
  const known = withEvents(noPages, [
    event('crawl.found', { urls: [`${site}/`, `${site}/guide/start`, `${site}/guide/end`, `${site}/gone`], depth: 1 }),
    page('/', 0, 0),
    page('/guide/start', 1, 1),
    event('crawl.error', { url: `${site}/gone`, error: 'timeout', code: 'timeout', depth: 1 }),
    event('crawl.progress', { total: 4, completed: 2, errors: 1, queued: 1, pages_per_second: 2.5, current: [] }),
  ])

  test('form a tree of folders with the state of each page', () => {
    expect(treeOf(known.pages.values()).map(({ level, label, page }) => [level, label, page?.state])).toEqual([
      [0, 'docs.example', 'done'],
      [1, 'gone', 'error'],
      [1, 'guide', undefined],
      [2, 'end', 'waiting'],
      [2, 'start', 'done'],
    ])
  })

  test('have their position in the list of the response', () => {
    const start = known.pages.get(`${site}/guide/start`)!
    expect(positionOf(start, known.pages.values())).toBe(1)
  })

  test('come with the progress of the crawl until it ends', () => {
    expect(known.progress).toMatchObject({
      completed: 2,
      errors: 1,
      queued: 1,
      pages_per_second: 2.5,
      status: 'scraping',
    })
    const finished = withEvents(known, [
      event('crawl.finished', { status: 'completed', total: 3, completed: 2, errors: 1 }),
    ])
    expect(finished.progress).toMatchObject({ queued: 0, pages_per_second: 0, status: 'completed' })
  })
})

/** File choosers, downloads and blocked requests in the events of a step. */
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Homes, openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'

const attachment = (_: unknown, response: ServerResponse) => {
  response.setHeader('content-disposition', 'attachment; filename=report.txt')
  response.end('content')
}
/** A closed port. */
const closed = 'http://127.0.0.1:61999'
const pages = {
  '/': `<!doctype html><title>Start</title><input type=file id=one><input type=file id=many multiple>
    <a id=link href=/file>Report</a><a id=empty href=/nothing>Nothing</a>
    <button id=blocked onclick="fetch('http://127.0.0.2:8080/x').catch(() => {})">Fetch</button>
    <button id=refused onclick="fetch('${closed}/x').catch(() => {})">Fetch</button>`,
  '/file': attachment,
  '/nothing': (_: unknown, response: ServerResponse) => {
    response.statusCode = 204
    response.end()
  },
}

let site: Site
let homes: Homes
let session: string
beforeAll(async () => {
  ;[site, homes] = await Promise.all([serveSite(pages), openHomes()])
  session = (await homes.clients.embedded.createSession({ headless: true, start_url: site.url })).session_id!
})
afterAll(async () => {
  await homes?.close()
  await site?.close()
})

async function step(command: string, data: Record<string, unknown>) {
  // The default wait for effects is too short for a busy machine.
  const body = { session_id: session, command: { command, data }, observe: false, settle_ms: 10_000 }
  const { results } = await homes.clients.embedded.browserStep(body as never)
  return { ...results[0]!, types: results[0]!.events!.map(({ type }) => type) }
}

test.each([
  ['#one', false],
  ['#many', true],
])('reports a file chooser that opens: %s', async (selector, multiple) => {
  const { events, success } = await step('click', { selector })
  expect(success).toBe(true)
  expect(events).toEqual([{ type: 'file_chooser.opened', data: { tab_id: 'tab_1', multiple } }])
})

test('does not report a link that becomes a download as a failed request', async () => {
  const { types, success } = await step('click', { selector: '#link' })
  expect(success).toBe(true)
  expect(types).toEqual(['download.started', 'download.finished'])
})

test('reports a navigation that becomes a download as a download', async () => {
  const { types, code, error } = await step('navigate_to', { url: `${site.url}/file` })
  expect({ code, error }).toEqual({
    code: 'navigation_aborted',
    error: 'the URL started a download instead of a page',
  })
  expect(types).toEqual(['download.started', 'download.finished'])
})

test('reports a navigation without a document as a failed request', async () => {
  const { events } = await step('click', { selector: '#empty' })
  expect(events).toMatchObject([{ type: 'network.failed', data: { error: 'net::ERR_ABORTED' } }])
})

test('reports requests blocked by a rule as blocked, and other failures not', async () => {
  const failed = async (selector: string) =>
    (await step('click', { selector })).events!.find(({ type }) => type === 'network.failed')!.data
  expect(await failed('#blocked')).toMatchObject({ error: 'URL blocked', reason: 'blocked', code: 'url_blocked' })
  expect(await failed('#refused')).not.toHaveProperty('reason')
})

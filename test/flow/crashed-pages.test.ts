import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../support/client.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { pageProcesses } from '../support/processes.ts'
import { command, valueOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site

beforeAll(async () => {
  ;[homes, site] = await Promise.all([
    openHomes(),
    serveSite({
      '/': '<title>Home</title><h1>Home</h1><form method="post" action="/sent"><button>Send</button></form>',
      '/other': '<title>Other</title><a href="/" target="_blank">Open</a>',
      '/sent': '<title>Sent</title><p>Thanks',
    }),
  ])
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

const client = (): Client => homes.clients.http
const run = (session_id: string, ...commands: ReturnType<typeof command>[]) =>
  client().runCommands({ session_id, commands })
const create = async (path = '/') => (await client().createSession({ start_url: site.url + path })).session_id!
const sent = () => site.requests.filter((path) => path === '/sent').length
const crash = (session_id: string, target = {}) => client().cdp({ session_id, method: 'Page.crash', ...target })
const eventsOf = async (session_id: string, ...types: string[]) => {
  const { events } = await client().getSessionLog({ session_id })
  return events.filter(({ type }) => types.includes(type)).map(({ type, data }) => ({ type, ...data }))
}

describe('a page that crashes between two commands', () => {
  test('fails the next command once, and the tab is reloaded', async () => {
    const session_id = await create()
    await valueOf(client(), session_id, 'document.cookie = "kept=1"')
    expect(await crash(session_id)).toMatchObject({ success: true, result: {} })
    expect(await run(session_id, command('get_title'))).toMatchObject({
      success: false,
      code: 'page_crashed',
      results: [{ error: expect.stringContaining('reloaded'), details: { reloaded: true, url: `${site.url}/` } }],
    })
    const { results } = await run(
      session_id,
      command('get_title'),
      command('evaluate', { expression: 'document.cookie' }),
    )
    expect(results.map(({ data }) => (data!['result'] as { value: unknown }).value)).toEqual(['Home', 'kept=1'])
    expect(await eventsOf(session_id, 'page.error', 'tab.recovered', 'tab.opened', 'tab.closed')).toEqual([
      { type: 'page.error', tab_id: 'tab_1', message: 'the page crashed', crashed: true },
      { type: 'tab.recovered', tab_id: 'tab_1', url: `${site.url}/`, reloaded: true },
    ])
    expect(await client().getSession({ session_id })).toMatchObject({ status: 'ready', tabs: 1, url: `${site.url}/` })
  })

  test.skipIf(process.platform !== 'linux')('is noticed when its process is killed', async () => {
    const session_id = await create()
    const { browsers } = await client().getEngineStatus({})
    for (const pid of await pageProcesses(browsers[0]!.pid)) process.kill(pid, 'SIGKILL')
    await waitUntil(async () => (await eventsOf(session_id, 'page.error')).length > 0)
    expect(
      await client()
        .observe({ session_id })
        .catch((error: unknown) => error),
    ).toMatchObject({
      code: 'page_crashed',
      details: { reloaded: true },
    })
    expect(await client().observe({ session_id })).toMatchObject({ title: 'Home', tabs: [{ tab_id: 'tab_1' }] })
  })

  test('is not requested again when it was the result of a POST', async () => {
    const session_id = await create()
    await run(session_id, command('click', { selector: 'button' }), command('wait_for_navigation'))
    const before = sent()
    await crash(session_id)
    expect(await run(session_id, command('get_title'))).toMatchObject({
      code: 'page_crashed',
      results: [{ error: expect.stringContaining('POST'), details: { reloaded: false, url: `${site.url}/sent` } }],
    })
    expect(await run(session_id, command('get_title'))).toMatchObject({ success: true })
    expect(sent()).toBe(before)
  })

  test('fails the command of a step, which reports it', async () => {
    const session_id = await create()
    await crash(session_id)
    expect(await client().browserStep({ session_id, ...command('get_title') })).toMatchObject({
      success: false,
      results: [{ code: 'page_crashed', details: { reloaded: true } }],
      observation: { title: 'Home' },
    })
  })

  test('fails only commands on its own tab', async () => {
    const session_id = await create('/other')
    await run(session_id, command('click', { selector: 'a' }), command('wait_for_element', { selector: 'h1' }))
    const { result } = await client().cdp({ session_id, method: 'Target.getTargets' })
    const targets = result!['targetInfos'] as { targetId: string; url: string }[]
    await crash(session_id, { target_id: targets.find(({ url }) => url.endsWith('/other'))!.targetId })
    await waitUntil(async () => (await eventsOf(session_id, 'page.error')).length > 0)
    expect(await valueOf(client(), session_id, 'document.title')).toBe('Home')
    expect(await client().observe({ session_id })).toMatchObject({
      tabs: [{ active: false, crashed: true, url: `${site.url}/other` }, { active: true }],
    })
    await valueOf(client(), session_id, 'setTimeout(close) && 1')
    await waitUntil(async () => (await client().getSession({ session_id })).tabs === 1)
    expect(await run(session_id, command('get_title'))).toMatchObject({ code: 'page_crashed' })
    expect(await valueOf(client(), session_id, 'document.title')).toBe('Other')
  })
})

test('ends the pending CDP call of its page, and fails later ones until the page is reloaded', async () => {
  const session_id = await create()
  const { result } = await client().cdp({ session_id, method: 'Target.getTargets' })
  const [{ targetId: target_id }] = result!['targetInfos'] as [{ targetId: string }]
  const evaluate = (expression: string) =>
    client().cdp({ session_id, target_id, method: 'Runtime.evaluate', params: { expression, awaitPromise: true } })
  const waiting = evaluate('new Promise(() => {})')
  expect(await evaluate('1')).toMatchObject({ success: true })
  expect(await crash(session_id, { target_id })).toMatchObject({ success: true })
  expect(await waiting).toMatchObject({ success: false, code: 'page_crashed' })
  expect(await evaluate('1')).toMatchObject({ success: false, code: 'page_crashed' })
  expect(await client().cdp({ session_id, target_id, method: 'Page.reload' })).toMatchObject({ success: true })
  await waitUntil(async () => (await evaluate('1')).success)
})

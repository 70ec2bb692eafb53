import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'
import { startForeignBrowser } from '../support/foreign-browser.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { connectBrowser } from '../support/relay.ts'
import { command } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'
import { parseBatch } from '../../src/lines/parse-batch.ts'
import { makeManifest } from '../../src/operations/manifest.ts'

const pages = {
  '/': '<title>Home</title><a href="/popup" target=_blank>popup</a>',
  '/popup': '<title>Popup</title><h1>Popup</h1>',
  '/other': '<title>Other</title>',
}

inUsualHomes(pages, (given) => {
  const ids = async () => ((await given.value('list_tabs')) as { tab_id: string }[]).map(({ tab_id }) => tab_id)
  const title = () => given.value('get_title')
  beforeEach(given.restart)

  describe('tabs', () => {
    test('open with IDs that are never reused, and are listed in this order', async () => {
      await given.open('/')
      const [first] = await ids()
      const opened = await given.do('new_tab', { url: given.url('/other'), label: 'docs' })
      expect(opened).toEqual({ tab_id: 'tab_2', label: 'docs', url: given.url('/other'), status_code: 200 })
      expect(await title()).toBe('Other')
      expect(await given.do('close_tab')).toEqual({ closed: 'tab_2', active: first })
      expect(await given.do('new_tab')).toMatchObject({ tab_id: 'tab_3', url: 'about:blank', status_code: null })
      expect(await given.value('list_tabs')).toEqual([
        { tab_id: first, url: given.url('/'), title: 'Home', active: false },
        { tab_id: 'tab_3', url: 'about:blank', title: '', active: true },
      ])
    })

    test('are selected by ID or label; observations, events and further commands use the selected one', async () => {
      await given.open('/')
      const [home] = await ids()
      await given.do('new_tab', { url: given.url('/other'), label: 'docs' })
      expect(await given.do('switch_tab', { tab: home })).toMatchObject({ tab_id: home, title: 'Home', active: true })
      expect(await title()).toBe('Home')
      const observed = await given.client().observe({ session_id: given.sessionId() })
      expect(observed).toMatchObject({
        title: 'Home',
        tabs: [
          { tab_id: home, active: true },
          { label: 'docs', active: false },
        ],
      })
      expect((await given.client().getSession({ session_id: given.sessionId() })).title).toBe('Home')
      await given.do('switch_tab', { tab: 'docs' })
      expect(await title()).toBe('Other')
      const { events } = await given.client().getSessionLog({ session_id: given.sessionId() })
      expect(events.findLast(({ type }) => type === 'tab.activated')!.data).toEqual({
        tab_id: observed.tabs![1]!.tab_id,
        url: given.url('/other'),
      })
    })

    test('opened by a page become active; after they close, the previous one is', async () => {
      await given.open('/')
      const [home] = await ids()
      await given.do('new_tab')
      await given.do('switch_tab', { tab: home })
      await given.do('click', { selector: 'a' })
      expect(await title()).toBe('Popup')
      const popup = (await ids()).at(-1)
      expect(await given.do('close_tab', { tab: popup })).toEqual({ closed: popup, active: home })
    })

    test('steps report the tab that they open', async () => {
      const step = await given.client().browserStep({
        session_id: given.sessionId(),
        commands: [command('new_tab', { url: given.url('/other') })],
      })
      expect(step).toMatchObject({ success: true, observation: { title: 'Other' } })
      expect(step.changes.tabs_opened).toHaveLength(1)
    })
  })

  test('the last tab cannot be closed', async () => {
    expect(await given.fails('close_tab')).toMatchObject({
      code: 'action_failed',
      hint: expect.stringContaining('bax close'),
    })
    expect(await ids()).toHaveLength(1)
  })

  test('an unknown tab is reported with the open ones', async () => {
    const [only] = await ids()
    expect(await given.fails('switch_tab', { tab: 'nowhere' })).toMatchObject({
      code: 'target_not_found',
      hint: `use one of: ${only}`,
    })
    expect(await given.fails('close_tab', { tab: 'tab_1000' })).toMatchObject({ code: 'target_not_found' })
  })

  test('a label is unique among the open tabs, and free again after its tab closes', async () => {
    await given.do('new_tab', { label: 'one' })
    expect(await given.fails('new_tab', { label: 'one' })).toMatchObject({ code: 'invalid_data' })
    await given.do('close_tab', { tab: 'one' })
    await given.do('new_tab', { label: 'one' })
  })

  test.each(['new', 'list', 'close', 'tab_7', '7', ''])('%j is no label', async (label) => {
    await expect(given.run([['new_tab', { label }]])).rejects.toMatchObject({ code: 'invalid_request' })
  })
})

describe('on a relay session', () => {
  let homes: Homes
  let site: Site
  let foreign: Awaited<ReturnType<typeof startForeignBrowser>>
  beforeAll(async () => {
    ;[homes, site, foreign] = await Promise.all([openHomes(), serveSite(pages), startForeignBrowser()])
  })
  afterAll(async () => {
    await homes.close()
    await foreign.close()
    await site.close()
  })

  test('tabs open, are selected and close in the browser of the user', async () => {
    const client = homes.clients.unix
    const relay = await connectBrowser({ browser: foreign.url, engine: `unix:${homes.stateDir}/test.sock` })
    await waitUntil(async () => (await client.getRelay({ id: relay.id })).active_target_id !== null)
    const run = async (name: string, data?: object) => {
      const { results } = await client.runCommands({ session_id: relay.id, commands: [command(name, { ...data })] })
      expect(results[0], JSON.stringify(results[0])).toMatchObject({ success: true })
      return results[0]!.data as Record<string, unknown>
    }
    const title = async () => ((await run('get_title'))['result'] as { value: unknown }).value
    await run('navigate_to', { url: `${site.url}/` })
    const opened = await run('new_tab', { url: `${site.url}/other`, label: 'docs' })
    expect(await title()).toBe('Other')
    expect(await run('list_tabs')).toMatchObject({
      result: { value: [{ title: 'Home' }, { label: 'docs', tab_id: opened['tab_id'], active: true }] },
    })
    await run('switch_tab', { tab: 'tab_1' })
    expect(await title()).toBe('Home')
    expect(await run('close_tab', { tab: 'docs' })).toEqual({ closed: opened['tab_id'], active: 'tab_1' })
    // The list of the browser lags behind.
    await expect.poll(() => foreign.pages()).toEqual([`${site.url}/`])
    const last = await client.runCommands({ session_id: relay.id, commands: [command('close_tab')] })
    expect(last).toMatchObject({ code: 'action_failed' })
    await relay.stop()
  })
})

test.each([
  ['tab', 'list_tabs', {}],
  ['tab list', 'list_tabs', {}],
  ['tab tab_1', 'switch_tab', { tab: 'tab_1' }],
  ['tab docs', 'switch_tab', { tab: 'docs' }],
  ['tab new', 'new_tab', {}],
  ['tab new https://example.org', 'new_tab', { url: 'https://example.org' }],
  ['tab close', 'close_tab', {}],
  ['tab close tab_2', 'close_tab', { tab: 'tab_2' }],
  ['tab-new https://example.org --label docs', 'new_tab', { url: 'https://example.org', label: 'docs' }],
  ['tab-select docs', 'switch_tab', { tab: 'docs' }],
  ['tab-close docs', 'close_tab', { tab: 'docs' }],
  ['tab-list', 'list_tabs', {}],
  ['dialog accept', 'answer_dialog', { accept: true }],
  ['dialog accept Ada', 'answer_dialog', { accept: true, text: 'Ada' }],
  ['dialog dismiss', 'answer_dialog', { accept: false }],
])('bax %s', (line, name, data) => {
  const { commands } = parseBatch(line.split(' '), makeManifest(), '/')
  expect(commands).toEqual([{ command: name, data }])
})

import { once } from 'node:events'
import { chromium } from 'playwright'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Client } from '../support/client.ts'
import type { CommandResult } from '../../src/core/shapes/commands.ts'
import { limits } from '../../src/core/limits/limits.ts'
import { startForeignBrowser } from '../support/foreign-browser.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { keyHolder } from '../support/owned-objects.ts'
import { connectBrowser } from '../support/relay.ts'
import { command, failureOf, valueOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site
let client: Client

const page = `<!doctype html><title>Shop</title>
  <button id=delete onclick="result.textContent = confirm('Delete?')">Delete</button>
  <button id=name onclick="result.textContent = prompt('Name?', 'nobody')">Name</button>
  <button id=both onclick="alert('Careful'); result.textContent = confirm('Really?')">Both</button>
  <button id=many onclick="for (let i = 1; i < 14; i++) alert(i)">Many</button>
  <output id=result></output>`

beforeAll(async () => {
  ;[homes, site] = await Promise.all([
    openHomes(),
    serveSite({
      '/': page,
      '/leaving': '<title>Leaving</title><button>x</button><script>onbeforeunload = (e) => e.preventDefault()</script>',
    }),
  ])
  client = homes.clients.http
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

let id: string
const create = async (input: object = {}, path = '/') => {
  const made = await client.createSession({ headless: true, start_url: site.url + path, ...input })
  id = made.session_id!
  return made
}
afterEach(() => client.closeSession({ session_id: id }))

const one = async (name: string, data?: Record<string, unknown>): Promise<CommandResult> =>
  (await client.runCommands({ session_id: id, commands: [command(name, data)] })).results[0]!
const click = (selector: string) => one('click', { selector })
const answer = (accept: boolean, text?: string) => one('answer_dialog', { accept, ...(text !== undefined && { text }) })
const shown = () => valueOf(client, id, 'result.textContent')
const events = async (type: string) =>
  (await client.getSessionLog({ session_id: id })).events.filter((event) => event.type === type)
const dialogOpens = (count = 1) => waitUntil(async () => (await events('dialog.opened')).length === count)

describe('without an answer', () => {
  test('dismisses a confirm, and the result of its command says so', async () => {
    await create()
    const dismissed = { type: 'confirm', message: 'Delete?', answer: 'dismissed', answered_by: 'setting' }
    expect(await click('#delete')).toMatchObject({ success: true, dialogs: [dismissed] })
    expect(await shown()).toBe('false')
    expect(await one('get_title')).not.toHaveProperty('dialogs')
  })

  test('accepts with the setting accept; a prompt keeps its preset text', async () => {
    await create({ dialogs: 'accept' })
    expect(await click('#name')).toMatchObject({ dialogs: [{ type: 'prompt', answer: 'accepted' }] })
    expect(await shown()).toBe('nobody')
  })

  test('lists a limited number of dialogs, and counts the others', async () => {
    await create()
    const { dialogs, dialogs_omitted } = await click('#many')
    expect(dialogs).toHaveLength(limits.dialog.perResult)
    expect(dialogs_omitted).toBe(13 - limits.dialog.perResult)
  })
})

describe('an answer given before', () => {
  test('is for the next question, not for an alert', async () => {
    await create()
    expect(await answer(true)).toMatchObject({ success: true, data: { answered: false } })
    expect((await click('#both')).dialogs).toMatchObject([
      { type: 'alert', answer: 'accepted', answered_by: 'setting' },
      { type: 'confirm', answer: 'accepted', answered_by: 'answer_dialog' },
    ])
    expect(await shown()).toBe('true')
    // It is used once.
    await click('#delete')
    expect(await shown()).toBe('false')
  })

  test('may contain the text of a prompt, and replaces an earlier answer', async () => {
    await create({ dialogs: 'accept' })
    await answer(false)
    expect(await answer(true, 'Ada')).toMatchObject({ data: { answered: false, replaced: true } })
    await click('#name')
    expect(await shown()).toBe('Ada')
  })

  test('keeps the page open when a beforeunload dialog is dismissed', async () => {
    await create({}, '/leaving')
    await click('button')
    await answer(false)
    expect(await one('navigate_to', { url: site.url })).toMatchObject({
      success: false,
      dialogs: [{ type: 'beforeunload', answer: 'dismissed' }],
    })
    expect(await one('navigate_to', { url: site.url })).toMatchObject({
      success: true,
      dialogs: [{ type: 'beforeunload', answer: 'accepted' }],
    })
  })

  test('needs accept for a text', async () => {
    await create()
    const refused = await failureOf(
      client.runCommands({ session_id: id, commands: [command('answer_dialog', { accept: false, text: 'x' })] }),
    )
    expect(refused).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('text') })
  })
})

describe('with the setting ask', () => {
  test('an answer does not wait for the command that the dialog blocks', async () => {
    await create({ dialogs: 'ask' })
    const clicked = click('#name')
    await dialogOpens()
    expect(await answer(true, 'Grace')).toMatchObject({
      success: true,
      data: { answered: true, type: 'prompt', message: 'Name?' },
    })
    expect(await clicked).toMatchObject({
      success: true,
      dialogs: [{ type: 'prompt', answer: 'accepted', answered_by: 'answer_dialog' }],
    })
    expect(await shown()).toBe('Grace')
  })

  test('a step that opens one describes it as events do, and reports no changed title', async () => {
    await create({ dialogs: 'ask' })
    const dialog = { type: 'confirm', message: 'Delete?' }
    const step = await client.browserStep({
      session_id: id,
      commands: [{ command: 'click', data: { selector: '#delete' } }],
    })
    expect(step).toMatchObject({
      code: 'dialog_blocking',
      results: [{ dialogs: [dialog], events: [{ type: 'dialog.opened', data: dialog }], after: { title: 'Shop' } }],
      changes: { dialogs: [{ ...dialog, open: true }], title_changed: false },
    })
    await answer(false)
    expect((await client.observe({ session_id: id })).dialogs).toMatchObject([{ ...dialog, accepted: false }])
    expect((await events('dialog.closed')).map(({ data }) => data)).toMatchObject([{ ...dialog, accepted: false }])
  })

  test('commands, observations and screenshots report the open dialog instead of hanging', async () => {
    await create({ dialogs: 'ask' })
    const blocked = await click('#delete')
    expect(blocked).toMatchObject({
      success: false,
      code: 'dialog_blocking',
      error: expect.stringContaining('confirm "Delete?"'),
      hint: expect.stringContaining('answer_dialog'),
      details: { dialog: { type: 'confirm', message: 'Delete?', tab_id: 'tab_1' } },
      dialogs: [{ type: 'confirm', answer: 'open' }],
    })
    for (const name of ['get_title', 'screenshot', 'refresh']) {
      const started = performance.now()
      expect(await one(name), name).toMatchObject({ success: false, code: 'dialog_blocking' })
      expect(performance.now() - started).toBeLessThan(limits.dialog.answerMs)
    }
    expect(await client.observe({ session_id: id })).toMatchObject({
      success: false,
      code: 'dialog_blocking',
      hint: expect.stringContaining('answer_dialog'),
    })
    expect(await answer(true, 'x')).toMatchObject({ success: false, code: 'invalid_data' })
    expect(await answer(true)).toMatchObject({ data: { answered: true, type: 'confirm' } })
    expect(await shown()).toBe('true')
  })

  test('a script continues after the answer, even when its command has failed', async () => {
    await create({ dialogs: 'ask' })
    const expression = `result.textContent = confirm('Sure?') ? 'yes' : 'no'`
    expect(await one('evaluate', { expression })).toMatchObject({ code: 'dialog_blocking' })
    await answer(true)
    expect(await shown()).toBe('yes')
  })

  test('alerts wait for an answer too, and take one given before', async () => {
    await create({ dialogs: 'ask' })
    await answer(true)
    const clicked = click('#both')
    await dialogOpens(2)
    expect((await events('dialog.closed')).map(({ data }) => data['kind'])).toEqual(['alert'])
    await answer(true)
    expect(await clicked).toMatchObject({ success: true })
  })

  test('other keys cannot answer', async () => {
    await create()
    const guarded = await openHomes()
    const [owner, other] = [await keyHolder(guarded), await keyHolder(guarded)]
    const made = await owner.client.createSession({ headless: true, dialogs: 'ask', start_url: site.url })
    const answerAs = (holder: typeof owner) =>
      holder.client.runCommands({
        session_id: made.session_id!,
        commands: [command('answer_dialog', { accept: true })],
      })
    const opened = owner.client.runCommands({
      session_id: made.session_id!,
      commands: [command('click', { selector: '#delete' })],
    })
    const log = () => owner.client.getSessionLog({ session_id: made.session_id! })
    await waitUntil(async () => (await log()).events.some(({ type }) => type === 'dialog.opened'))
    expect(await failureOf(answerAs(other))).toMatchObject({ code: 'session_not_found' })
    expect(await answerAs(owner)).toMatchObject({ success: true, results: [{ data: { answered: true } }] })
    expect(await opened).toMatchObject({ success: true })
    await guarded.close()
  })
})

describe('a CDP client', () => {
  test('that handles dialogs answers them', async () => {
    const { cdp_url, frame_token } = await create()
    const browser = await chromium.connectOverCDP(`${cdp_url}?token=${frame_token}`)
    const tab = browser.contexts()[0]!.pages()[0]!
    tab.on('dialog', (dialog) => void dialog.accept())
    await tab.click('#delete')
    expect(await tab.textContent('#result')).toBe('true')
    expect(await click('#name')).toMatchObject({ dialogs: [{ answer: 'accepted', answered_by: 'client' }] })
    await browser.close()
    expect(await click('#delete')).toMatchObject({ dialogs: [{ answer: 'dismissed', answered_by: 'setting' }] })
  })

  test('that does not answer in time leaves them to the setting', async () => {
    const { cdp_url, frame_token } = await create({ dialogs: 'accept' })
    const socket = new WebSocket(`${cdp_url}?token=${frame_token}`)
    await once(socket, 'open')
    let calls = 0
    const send = (call: object) =>
      new Promise<Record<string, never>>((resolve) => {
        const number = ++calls
        socket.on('message', (data: Buffer) => {
          const message = JSON.parse(data.toString()) as { id?: number; result: Record<string, never> }
          if (message.id === number) resolve(message.result)
        })
        socket.send(JSON.stringify({ id: number, ...call }))
      })
    const { targetInfos } = (await send({ method: 'Target.getTargets' })) as { targetInfos?: { targetId: string }[] }
    const { targetId } = targetInfos![0]!
    const { sessionId } = await send({ method: 'Target.attachToTarget', params: { targetId, flatten: true } })
    await send({ method: 'Page.enable', sessionId })
    const started = performance.now()
    expect(await click('#delete')).toMatchObject({ dialogs: [{ answer: 'accepted', answered_by: 'setting' }] })
    expect(performance.now() - started).toBeGreaterThan(limits.dialog.clientMs - 100)
    socket.close()
  })
})

test('answers dialogs on a relay session, and reports them', async () => {
  await create()
  const foreign = await startForeignBrowser()
  const relay = await connectBrowser({ browser: foreign.url, engine: `unix:${homes.stateDir}/test.sock` })
  await waitUntil(async () => (await homes.clients.unix.getRelay({ id: relay.id })).active_target_id !== null)
  const run = (...commands: ReturnType<typeof command>[]) =>
    homes.clients.unix.runCommands({ session_id: relay.id, commands })
  const clickDelete = command('click', { selector: '#delete' })
  expect(await run(command('navigate_to', { url: site.url }), clickDelete)).toMatchObject({
    success: true,
    results: [{}, { dialogs: [{ type: 'confirm', answer: 'dismissed' }] }],
  })
  await run(command('answer_dialog', { accept: true }))
  expect(await run(clickDelete)).toMatchObject({ results: [{ dialogs: [{ answer: 'accepted' }] }] })
  // A dialog that opens between commands belongs to the user, but can be answered.
  await run(
    command('evaluate', { expression: `void setTimeout(() => { result.textContent = confirm('Later?') }, 300)` }),
  )
  const opened = await homes.clients.unix.readRelayEvents({
    id: relay.id,
    kind: ['page'],
    text: 'Later?',
    wait_ms: 20_000,
  })
  expect(opened).toMatchObject({ events: [{ type: 'dialog' }] })
  const { results } = await run(command('get_title'))
  expect(results[0]).toMatchObject({ code: 'dialog_blocking' })
  expect(await run(command('answer_dialog', { accept: true }))).toMatchObject({
    results: [{ data: { answered: true } }],
  })
  expect(await valueOf(homes.clients.unix, relay.id, 'result.textContent')).toBe('true')
  await relay.stop()
  await foreign.close()
})

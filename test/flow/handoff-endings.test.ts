/** How handoffs end, in the live view, over webhooks, in the terminal and over MCP. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import { handoffs, logIn } from '../support/handoffs.ts'
import { openHomes } from '../support/homes.ts'
import { connectMcp } from '../support/mcp.ts'
import { failureOf, valueOf } from '../support/session-steps.ts'
import { receiveWebhooks } from '../support/webhooks.ts'
import { clickAt, takeOver, waitForFrame } from '../support/views.ts'
import { waitUntil } from '../support/wait.ts'

const { create, ended, given, request, start } = handoffs()

describe('a handoff', () => {
  test('hides the values of fields that the person filled in', async () => {
    const session_id = await create()
    const asked = await request(session_id)
    const view = await given.views.open(asked.control_url!)
    await waitForFrame(view)
    await takeOver(view)
    await clickAt(view, 100, 20)
    await view.keyboard.type('7')
    await view.getByRole('button', { name: 'Return control' }).click()
    const { status, change } = await ended(asked)
    expect(status).toBe('returned')
    expect(change!.changes!.values).toEqual([
      { ref: expect.any(String), role: 'textbox', name: 'User', from: '[redacted]', to: '[redacted]' },
    ])
  })

  test.each([
    ['has not arrived', '/never', '/never'],
    ['is busy', '/busy', '/held'],
  ])('ends without an observation when the page that the person has opened %s', async (_, path, requested) => {
    const session_id = await create()
    const asked = await request(session_id)
    const view = await given.views.open(asked.control_url!)
    await waitForFrame(view)
    await takeOver(view)
    await view.getByLabel('Address').fill(`${given.site.url}${path}`)
    await view.keyboard.press('Enter')
    await waitUntil(() => given.site.requests.includes(requested))
    await view.getByRole('button', { name: 'Done' }).click()
    await view.getByText('Thank you. You can close this page.').waitFor()
    const { status, change } = await ended(asked)
    expect(status).toBe('returned')
    expect(change).toMatchObject({ changes: null, warning: 'the page could not be observed: it does not respond' })
  })

  test.each(['url:**/account', 'text:Welcome'])('ends when the condition %s holds', async (until) => {
    const session_id = await create()
    const asked = await request(session_id, { until })
    const view = await given.views.open(asked.control_url!)
    await waitForFrame(view)
    await takeOver(view)
    await view.getByLabel('Address').fill(`${given.site.url}/account?who=nobody`)
    await view.keyboard.press('Enter')
    await view.getByText('Thank you. You can close this page.').waitFor()
    expect(await ended(asked)).toMatchObject({ status: 'met', until, change: { title: 'Account' } })
    expect(await valueOf(given.homes.clients.http, session_id, 'document.title')).toBe('Account')
  })

  test('expires, and takes control away from the person', async () => {
    const session_id = await create()
    const asked = await request(session_id, { timeout_secs: 5 })
    const view = await given.views.open(asked.control_url!)
    await waitForFrame(view)
    await takeOver(view)
    await view.getByText('The time for this is over.').waitFor()
    expect(await ended(asked)).toMatchObject({ status: 'expired', control_url: null })
    expect(await valueOf(given.homes.clients.http, session_id, 'document.title')).toBe('Sign in')
  })

  test('has a URL that opens once, which the same page can reload', async () => {
    const session_id = await create()
    const asked = await request(session_id)
    const view = await given.views.open(asked.control_url!)
    await waitForFrame(view)
    await view.reload()
    await view.getByRole('button', { name: 'Done' }).waitFor()
    await view.reload()
    await view.getByRole('button', { name: 'Done' }).waitFor()
    const second = await given.views.open(asked.control_url!)
    await second.getByText('This link does not open the session').waitFor()
    await view.getByRole('button', { name: 'Done' }).click()
    expect(await ended(asked)).toMatchObject({ status: 'returned' })
    const third = await given.views.open(view.url())
    await third.getByText('This link does not open the session').waitFor()
  })

  test('waits again when the person leaves without finishing', async () => {
    const session_id = await create()
    const asked = await request(session_id)
    const view = await given.views.open(asked.control_url!)
    await waitForFrame(view)
    await takeOver(view)
    await view.reload()
    await view.getByRole('button', { name: 'Take control' }).waitFor()
    const { handoff_id } = asked
    await expect
      .poll(async () => (await given.homes.clients.http.getHandoff({ session_id, handoff_id })).status)
      .toBe('waiting')
    await takeOver(view)
    await view.getByRole('button', { name: 'Done' }).click()
    expect(await ended(asked)).toMatchObject({ status: 'returned' })
  })

  test('can be finished in any live view with control, and not in one for watching', async () => {
    const session_id = await create()
    const asked = await request(session_id)
    const link = (control: boolean) => given.homes.clients.http.linkLiveView({ session_id, control })
    const watching = await given.views.open((await link(false)).live_view_url)
    await waitForFrame(watching)
    expect(await watching.getByRole('button', { name: 'Done' }).isVisible()).toBe(false)
    const view = await given.views.open((await link(true)).live_view_url)
    await view.getByRole('button', { name: 'Done' }).click()
    expect(await ended(asked)).toMatchObject({ status: 'returned' })
    await view.getByRole('region', { name: 'Request' }).waitFor({ state: 'hidden' })
    await view.getByRole('button', { name: 'Take control' }).waitFor()
  })
})

describe('notify', () => {
  test('sends signed requests, one for each event', async () => {
    const receiver = await receiveWebhooks()
    const session_id = await create()
    const { url } = receiver.webhook
    const asked = await given.homes.clients.http.requestHandoff({ session_id, reason: 'log in', notify: url })
    await waitUntil(() => receiver.received.length === 1)
    const { data } = JSON.parse(receiver.received[0]!.text)
    const view = await given.views.open(data[0].control_url)
    await logIn(view)
    await view.getByRole('button', { name: 'Done' }).click()
    await waitUntil(() => receiver.received.length === 3)
    const types = ['handoff.requested', 'handoff.taken', 'handoff.returned']
    expect(receiver.received.map(({ type }) => type)).toEqual(types)
    expect(receiver.received.map(({ event }) => event)).toEqual(types.map((type) => `${asked.handoff_id}-${type}`))
    expect(JSON.parse(receiver.received[2]!.text)).toMatchObject({
      success: true,
      id: asked.handoff_id,
      data: [{ status: 'returned', change: { title: 'Account' } }],
    })
    expect(receiver.received.map(({ text }) => text).join('')).not.toContain('lovelace')
    expect(await ended(asked)).not.toHaveProperty('warning')
    await receiver.close()
  })

  test('warns of requests that are not signed', async () => {
    const [plain, receiver] = await Promise.all([openHomes(), receiveWebhooks()])
    const { session_id = '' } = await plain.clients.http.createSession({ headless: true })
    const unsigned = 'notify: the requests are not signed, because BAX_WEBHOOK_SECRET is not set'
    const asked = { session_id, reason: 'log in', notify: receiver.webhook.url }
    const { handoff_id, warning } = await plain.clients.http.requestHandoff(asked)
    expect(warning).toBe(unsigned)
    await plain.clients.http.withdrawHandoff({ session_id, handoff_id })
    const failing = await plain.clients.http.requestHandoff({ ...asked, notify: `${given.site.url}/missing` })
    await expect
      .poll(async () => (await plain.clients.http.getHandoff({ session_id, handoff_id: failing.handoff_id })).warning)
      .toBe(`${unsigned}; notify: the receiver responded with 404`)
    await Promise.all([plain.close(), receiver.close()])
  })

  test('reports a receiver that rejects the request, and one that must not be reached', async () => {
    const session_id = await create()
    const asked = await given.homes.clients.http.requestHandoff({
      session_id,
      reason: 'x',
      notify: `${given.site.url}/missing`,
    })
    const { handoff_id } = asked
    await expect
      .poll(async () => (await given.homes.clients.http.getHandoff({ session_id, handoff_id })).warning)
      .toBe('notify: the receiver responded with 404')
    await given.homes.clients.http.withdrawHandoff({ session_id, handoff_id })
    const blocked = { session_id, reason: 'x', notify: 'http://169.254.169.254/' }
    expect(await failureOf(given.homes.clients.http.requestHandoff(blocked))).toMatchObject({ code: 'url_blocked' })
  })
})

describe('bax handoff', () => {
  test('fails when the person declines, and when the time is up', async () => {
    const session_id = await create()
    const command = start(session_id)
    const view = await given.views.open(await command.url)
    await view.getByRole('button', { name: 'Cannot do this' }).click()
    await view.getByLabel('What should the sender know?').fill('wrong shop')
    await view.getByRole('button', { name: 'Send' }).click()
    expect(await command.done).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringContaining('the person cannot do this: wrong shop\n'),
    })
    const late = await start(session_id, '--timeout-secs', '1', '--json').done
    expect(late.code).toBe(6)
    expect(JSON.parse(late.stdout)).toMatchObject({ status: 'expired' })
  })

  test('withdraws the handoff when it is interrupted', async () => {
    const session_id = await create()
    const command = start(session_id)
    await command.url
    command.interrupt()
    expect((await command.done).code).toBe(130)
    await expect.poll(async () => (await given.homes.clients.http.listHandoffs({})).total).toBe(0)
  })
})

describe('browser_handoff', () => {
  test('says that it is still waiting, and fails when the person declines', async () => {
    const mcp = await connectMcp([], {}, ['--server', given.homes.baseUrl])
    await mcp.call('browser_open', { url: given.site.url })
    const { text } = await mcp.call('browser_handoff', { reason: 'log in' })
    const [, url, handoff_id] = /(\S+)\n.* (hnd_\S+) to wait$/.exec(text)!
    const waits = limits.mcp as { answerMs: number; handoffPollSecs: number }
    const { answerMs, handoffPollSecs } = waits
    onTestFinished(() => void Object.assign(waits, { answerMs, handoffPollSecs }))
    Object.assign(waits, { answerMs: 1000, handoffPollSecs: 1 })
    const still = await mcp.call('browser_handoff', { handoff_id })
    Object.assign(waits, { answerMs, handoffPollSecs })
    expect(still.text).toBe(
      `still waiting: nobody has opened the URL\nthen call browser_handoff with handoff_id ${handoff_id} to wait`,
    )
    const view = await given.views.open(url!)
    await view.getByRole('button', { name: 'Cannot do this' }).click()
    await view.getByRole('button', { name: 'Send' }).click()
    expect(await mcp.call('browser_handoff', { handoff_id })).toMatchObject({
      isError: true,
      text: expect.stringContaining('the person cannot do this'),
    })
    expect(await mcp.call('browser_handoff', {})).toMatchObject({ isError: true })
    await mcp.close()
  })
})

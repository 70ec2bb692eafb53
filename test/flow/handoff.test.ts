/** Handoffs: a caller asks a person, whom the tests play in the live view, to do something in a session. */
import type { Page } from 'playwright'
import { describe, expect, onTestFinished, test } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import { bax } from '../support/cli.ts'
import { connectMcp } from '../support/mcp.ts'
import { failureOf, valueOf } from '../support/session-steps.ts'
import { receiveWebhooks } from '../support/webhooks.ts'
import { waitUntil } from '../support/wait.ts'
import { openHomes } from '../support/homes.ts'
import { viewedSessions } from '../support/viewed-sessions.ts'
import { clickAt, takeOver, waitForFrame } from '../support/views.ts'

const form = `<title>Sign in</title><style>* { margin: 0; font: 20px monospace } input, button { display: block; width: 400px; height: 40px }</style>
  <form action="/account"><input name="who" aria-label="User" oninput="console.log('typed ' + value)"><input name="word" type="password"><button>Go</button></form>
  <p>Please log in</p>`

const given = viewedSessions(
  {
    '/': form,
    '/account': `<title>Account</title><h1>Welcome</h1><p id="you"></p><script>
        you.textContent = 'You are ' + new URLSearchParams(location.search).get('who')
        console.log('signed in with ' + location.search)
        fetch('/beacon' + location.search)</script>`,
    '/beacon': 'ok',
    '/never': () => {},
    // A synchronous request keeps the page as busy as a loop, without using the processor.
    '/busy': `<title>Busy</title><script>const request = new XMLHttpRequest(); request.open('GET', '/held', false); request.send()</script>`,
    '/held': () => {},
  },
  { webhookSecret: 'a secret of the receiver' },
)
const { create } = given
const request = (session_id: string, more: { until?: string; timeout_secs?: number } = {}) =>
  given.homes.clients.http.requestHandoff({ session_id, reason: 'log in to the shop', ...more })
const ended = ({ session_id, handoff_id }: { session_id: string; handoff_id: string }) =>
  given.homes.clients.http.getHandoff({ session_id, handoff_id, wait_secs: 60 })
const eventsOf = async (session_id: string) => (await given.homes.clients.http.getSessionLog({ session_id })).events
const handoffEvents = async (session_id: string) =>
  (await eventsOf(session_id)).filter(({ type }) => type.startsWith('handoff.')).map(({ type }) => type)

/** Opens the view of a handoff, takes control and logs in. */
async function logIn(view: Page): Promise<void> {
  await submitLogin(view)
  await view.waitForFunction(() => document.querySelector<HTMLInputElement>('#address')!.value.includes('/account'))
}

/** Does the same without waiting for the next page: a condition of the handoff may close the view before it shows it. */
async function submitLogin(view: Page): Promise<void> {
  await waitForFrame(view)
  await takeOver(view)
  await clickAt(view, 100, 20)
  await view.keyboard.type('ada.lovelace')
  await view.keyboard.press('Tab')
  await view.keyboard.type('Pa55-word!')
  await view.keyboard.press('Enter')
}

describe('a handoff', () => {
  test('shows the reason; the person logs in and finishes; the result says what changed', async () => {
    const session_id = await create()
    const asked = await request(session_id)
    expect(asked).toMatchObject({ status: 'waiting', reason: 'log in to the shop', change: null, ended_at: null })
    const view = await given.views.open(asked.control_url!)
    await view.getByRole('region', { name: 'Request' }).getByText('log in to the shop').waitFor()
    await logIn(view)
    expect(await given.homes.clients.http.listHandoffs({})).toMatchObject({
      handoffs: [{ handoff_id: asked.handoff_id, status: 'active', control_url: null }],
      total: 1,
    })
    const title = valueOf(given.homes.clients.http, session_id, 'document.title')
    await view.getByRole('button', { name: 'Done' }).click()
    await view.getByText('Thank you. You can close this page.').waitFor()
    const done = await ended(asked)
    expect(done).toMatchObject({ status: 'returned', message: null, change: { title: 'Account', full: 'new_page' } })
    expect(done.change!.snapshot).toContain('Welcome')
    expect(await title).toBe('Account')
    expect(await handoffEvents(session_id)).toEqual(['handoff.requested', 'handoff.taken', 'handoff.returned'])
    expect(await given.homes.clients.http.listHandoffs({})).toEqual({ handoffs: [], total: 0 })
  })

  test('reports nothing that the person typed, in its result or in events', async () => {
    const session_id = await create()
    const asked = await request(session_id)
    const view = await given.views.open(asked.control_url!)
    await logIn(view)
    await view.getByRole('button', { name: 'Done' }).click()
    const done = await ended(asked)
    expect(await valueOf(given.homes.clients.http, session_id, 'location.search')).toBe(
      '?who=ada.lovelace&word=Pa55-word%21',
    )
    const commands = [{ command: 'refresh' }]
    await given.homes.clients.http.runCommands({ session_id, commands })
    await expect
      .poll(async () => (await eventsOf(session_id)).filter(({ type }) => type === 'network.response').length)
      .toBeGreaterThan(3)
    const events = (await eventsOf(session_id)).filter(({ type }) => !type.startsWith('command.'))
    const { results } = await given.homes.clients.http.runCommands({
      session_id,
      commands: [{ command: 'list_requests' }],
    })
    const texts = JSON.stringify({ done, events, results })
    for (const typed of ['ada.lovelace', 'lovelace', 'Pa55']) expect(texts).not.toContain(typed)
    expect(texts).toContain(`signed in with ?who=[redacted]&word=[redacted]`)
    expect(events.filter(({ type }) => type === 'console').map(({ data }) => data['text'])).toContain('[redacted]')
  })

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

  test.each([
    ['a sentence', 'I have no account'],
    ['no sentence', ''],
  ])('is declined with %s', async (_, sentence) => {
    const session_id = await create()
    const asked = await request(session_id)
    const view = await given.views.open(asked.control_url!)
    await view.getByRole('button', { name: 'Cannot do this' }).click()
    await view.getByLabel('What should the sender know?').fill(sentence)
    await view.getByRole('button', { name: 'Send' }).click()
    await view.getByText('Your answer was passed on.').waitFor()
    expect(await ended(asked)).toMatchObject({ status: 'declined', message: sentence || null, change: null })
    expect(await handoffEvents(session_id)).toEqual(['handoff.requested', 'handoff.declined'])
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

  test('is withdrawn by the caller', async () => {
    const session_id = await create()
    const asked = await request(session_id)
    const view = await given.views.open(asked.control_url!)
    await view.getByRole('button', { name: 'Done' }).waitFor()
    const { handoff_id } = asked
    await given.homes.clients.http.withdrawHandoff({ session_id, handoff_id })
    await view.getByText('This is no longer needed.').waitFor()
    expect(await ended(asked)).toMatchObject({ status: 'withdrawn' })
    await given.homes.clients.http.withdrawHandoff({ session_id, handoff_id })
    expect(await handoffEvents(session_id)).toEqual(['handoff.requested', 'handoff.withdrawn'])
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

  test('is rejected while another is open, with a bad condition, and for an unknown ID', async () => {
    const session_id = await create()
    const first = await request(session_id)
    expect(await failureOf(request(session_id))).toMatchObject({
      code: 'conflict',
      details: { handoff_id: first.handoff_id },
    })
    for (const until of ['**/account', 'url:', 'title:x'])
      expect(await failureOf(request(session_id, { until }))).toMatchObject({ code: 'invalid_request' })
    expect(await failureOf(ended({ session_id, handoff_id: 'hnd_none' }))).toMatchObject({ code: 'handoff_not_found' })
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
  const start = (session_id: string, ...more: string[]) => {
    let shown = (_url: string) => {}
    const url = new Promise<string>((resolve) => (shown = resolve))
    const control = new AbortController()
    const argv = ['handoff', '-s', session_id, '--server', given.homes.baseUrl, '--reason', 'log in', ...more]
    const onError = (text: string) => {
      const found = /^waiting for a person: (\S+)\n/.exec(text)
      if (found) shown(found[1]!)
    }
    return { url, interrupt: () => control.abort(), done: bax(argv, { onError, signal: control.signal }) }
  }

  test('prints the URL, waits, and prints what changed', async () => {
    const session_id = await create()
    const command = start(session_id)
    const view = await given.views.open(await command.url)
    await logIn(view)
    await view.getByRole('button', { name: 'Done' }).click()
    const { code, stdout } = await command.done
    expect(code).toBe(0)
    expect(stdout).toContain(
      `url: ${given.site.url}/account?who=[redacted]&word=[redacted]\ntitle: Account\na new page:\n`,
    )
  })

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
  test('returns the URL at once, waits with progress, and returns what changed', async () => {
    const mcp = await connectMcp([], {}, ['--server', given.homes.baseUrl])
    await mcp.call('browser_open', { url: given.site.url })
    const asked = await mcp.call('browser_handoff', { reason: 'log in', until: 'url:**/account' })
    const [, url, handoff_id] = /^give this URL to the user: (\S+)\nthen .* (hnd_\S+) to wait$/.exec(asked.text)!
    const view = await given.views.open(url!)
    const reports: unknown[] = []
    const waiting = mcp.client.callTool({ name: 'browser_handoff', arguments: { handoff_id } }, undefined, {
      onprogress: (report) => reports.push(report),
    })
    await waitUntil(() => reports.length > 0)
    expect(reports[0]).toMatchObject({ progress: 5, total: 45, message: 'waiting for a person' })
    await submitLogin(view)
    const text = JSON.stringify(await waiting)
    expect(text).toContain('the condition holds: url:**/account')
    expect(text).toContain('title: Account')
    expect(text).not.toContain('lovelace')
    await mcp.close()
  })

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

describe('the step handoff', () => {
  const script = () => `steps:
  - navigate_to: ${given.site.url}
  - handoff: {reason: log in, timeout_secs: 60}
    expect: {path: status, equals: returned}
  - get_title:
    expect: {equals: Account}
`
  const run = (argv: readonly string[], onError?: (text: string) => unknown) =>
    bax(['run', '-', '--server', given.homes.baseUrl, ...argv], { stdin: script(), ...(onError && { onError }) })

  test('waits for a person with --allow-handoff', async () => {
    let shown = (_url: string) => {}
    const url = new Promise<string>((resolve) => (shown = resolve))
    const running = run(['--allow-handoff'], (text) => {
      const found = /waiting for a person \(log in\): (\S+)/.exec(text)
      if (found) shown(found[1]!)
    })
    const view = await given.views.open(await url)
    await logIn(view)
    await view.getByRole('button', { name: 'Done' }).click()
    const { code, stdout, stderr } = await running
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stdout + stderr).not.toContain('lovelace')
  })

  test('fails at once without it', async () => {
    const { code, stdout, stderr } = await run([])
    expect(code).toBe(1)
    expect(stdout + stderr).toContain('a script asks a person only with --allow-handoff')
    expect((await given.homes.clients.http.listHandoffs({})).total).toBe(0)
  })
})

/** Handoffs: a caller asks a person, whom the tests play in the live view, to do something in a session. */
import { describe, expect, test } from 'vitest'
import { waitingApproval } from '../support/approvals.ts'
import { bax } from '../support/cli.ts'
import { handoffs, logIn, submitLogin } from '../support/handoffs.ts'
import { connectMcp } from '../support/mcp.ts'
import { takeControl } from '../support/person.ts'
import { failureOf, valueOf } from '../support/session-steps.ts'
import { waitUntil } from '../support/wait.ts'

const { create, ended, eventsOf, gate, given, handoffEvents, request, start } = handoffs()

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

  test.each(['done', 'decline', 'return'] as const)('loses no key that was pressed right before %s', async (type) => {
    const session_id = await create()
    const asked = await request(session_id)
    const person = await takeControl(given.homes, session_id)
    person.click({ x: 200, y: 20 })
    person.press(...'everything that was typed')
    person.send({ type })
    await ended(asked)
    expect(await valueOf(given.homes.clients.http, session_id, 'document.querySelector("input").value')).toBe(
      'everything that was typed',
    )
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

  test.each([[[]], [[{ command: 'navigate_to', data: { url: '/gate' } }]]])(
    'appears at once when an earlier command waits for an approval: %j',
    async (first) => {
      const { http } = given.homes.clients
      const start_url = `${given.site.url}/`
      const session_id = (await http.createSession({ headless: true, start_url, confirm: ['eval'] })).session_id!
      const before = first.map(({ command }) => ({ command, data: { url: `${given.site.url}/gate` } }))
      const commands = [...before, { command: 'evaluate', data: { expression: '6 * 7' } }]
      const running = http.runCommands({ session_id, commands })
      await (first.length > 0 ? gate.reached : waitingApproval(http))
      const asking = request(session_id)
      gate.release()
      const asked = await asking
      const approval = await waitingApproval(http)
      await http.approveAction({ session_id, approval_id: approval.approval_id })
      expect(await running).toMatchObject({ success: true })
      const view = await given.views.open(asked.control_url!)
      await view.getByRole('button', { name: 'Done' }).click()
      expect(await ended(asked)).toMatchObject({ status: 'returned' })
    },
  )

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

describe('bax handoff', () => {
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

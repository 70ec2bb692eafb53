/** Reports of a session while a person has control for a handoff, and afterwards. */
import type { ServerResponse } from 'node:http'
import type { Page } from 'playwright'
import { expect, test } from 'vitest'
import { valueOf } from '../support/session-steps.ts'
import { viewedSessions } from '../support/viewed-sessions.ts'
import { clickAt, takeOver, waitForFrame } from '../support/views.ts'
import { waitUntil } from '../support/wait.ts'

let held: ServerResponse | undefined

const form = `<title>Sign in</title><style>* { margin: 0; font: 20px monospace } input, button { display: block; width: 400px; height: 40px }</style>
  <form action="/account"><input name="who" aria-label="User"><input id="pw" type="password"><button>Go</button></form>`

const given = viewedSessions({
  '/': form,
  '/held': (_, response) => void (held = response),
  '/order': `${form.replace('<form', '<form method="post"')}<script>fetch('/loaded')</script>`,
  '/account': `<title>x</title><h1>Welcome</h1><script>document.title = 'Account of ' + new URLSearchParams(location.search).get('who')</script>`,
})
const { create } = given
const request = (session_id: string) => given.homes.clients.http.requestHandoff({ session_id, reason: 'log in' })
const ended = ({ session_id, handoff_id }: { session_id: string; handoff_id: string }) =>
  given.homes.clients.http.getHandoff({ session_id, handoff_id, wait_secs: 60 })
const run = async (session_id: string, command: string, data = {}) => {
  const { results, error } = await given.homes.clients.http.runCommands({ session_id, commands: [{ command, data }] })
  expect(error).toBeUndefined()
  return results[0]!.data!
}
const untilAddress = (view: Page, part: string) =>
  view.waitForFunction((wanted) => document.querySelector<HTMLInputElement>('#address')!.value.includes(wanted), part)

test('a viewer who waits for control behind the request takes over for the handoff', async () => {
  const session_id = await create()
  const { live_view_url } = await given.homes.clients.http.linkLiveView({ session_id, control: true })
  const view = await given.views.open(live_view_url)
  await waitForFrame(view)
  const batch = valueOf(given.homes.clients.http, session_id, `fetch('/held').then(() => 1)`)
  await waitUntil(() => held !== undefined)
  const asking = request(session_id)
  expect((await given.homes.clients.http.listHandoffs({})).total).toBe(0)
  await view.getByRole('button', { name: 'Take control' }).click()
  await view.getByText('Waiting').first().waitFor()
  held!.end()
  await batch
  const asked = await asking
  await view.getByRole('button', { name: 'Return control' }).waitFor()
  await expect.poll(async () => (await given.homes.clients.http.listHandoffs({})).handoffs[0]?.status).toBe('active')
  await clickAt(view, 100, 20)
  await view.keyboard.type('ada.lovelace')
  await view.getByRole('button', { name: 'Done' }).click()
  expect(await ended(asked)).toMatchObject({ status: 'returned', ended_at: expect.any(String) })
  const { events } = await given.homes.clients.http.getSessionLog({ session_id })
  expect(JSON.stringify(events)).not.toContain('lovelace')
})

test('the result hides the values of stored credentials', async () => {
  const session_id = await create()
  const password = 'correct horse battery'
  await given.homes.clients.http.addCredential({ name: 'shop', origins: [given.site.url], password })
  await run(session_id, 'fill', { selector: '#pw', credential: 'shop.password' })
  const asked = await request(session_id)
  const view = await given.views.open(asked.control_url!)
  await waitForFrame(view)
  await run(session_id, 'evaluate', { expression: `location.href = '/account?who=' + pw.value` })
  await view.getByRole('button', { name: 'Done' }).click()
  const { change } = await ended(asked)
  expect(change!.snapshot).toContain('Welcome')
  for (const text of [change!.url, change!.title]) {
    expect(text).not.toContain('horse')
    expect(text).toContain('***')
  }
})

/** Opens the view of a handoff, takes control and logs in. */
async function logIn(url: string): Promise<Page> {
  const view = await given.views.open(url)
  await waitForFrame(view)
  await takeOver(view)
  await clickAt(view, 100, 20)
  await view.keyboard.type('ada.lovelace')
  await view.keyboard.press('Enter')
  await untilAddress(view, '/account?who=ada.lovelace')
  return view
}

test('only the person in control sees the URL and the title meanwhile', async () => {
  const session_id = await create()
  const watching = await given.views.open((await given.homes.clients.http.linkLiveView({ session_id })).live_view_url)
  await untilAddress(watching, given.site.url)
  const asked = await request(session_id)
  const view = await logIn(asked.control_url!)
  await view.getByRole('listitem').getByText('Account of ada.lovelace').waitFor()
  const shown = async () => {
    const { url, title } = await given.homes.clients.http.getSession({ session_id })
    const { sessions } = await given.homes.clients.http.listSessions({})
    const tab = await watching.locator('#tabs li').evaluate((item: HTMLElement) => [item.title, item.textContent])
    return [[url, title], [sessions[0]!.url, sessions[0]!.title], tab]
  }
  const hidden = ['[redacted]', '[redacted]']
  expect(await shown()).toEqual([hidden, hidden, hidden])
  await view.getByRole('button', { name: 'Done' }).click()
  await ended(asked)
  await untilAddress(watching, '/account')
  const known = [`${given.site.url}/account?who=[redacted]`, 'Account of [redacted]']
  expect(await shown()).toEqual([known, known, known])
  await given.homes.clients.http.closeSession({ session_id })
  const { url, title } = await given.homes.clients.http.getSession({ session_id })
  expect([url, title]).toEqual(known)
})

test('the record of a session that ends meanwhile has no URL and no title', async () => {
  const session_id = await create()
  const asked = await request(session_id)
  await logIn(asked.control_url!)
  await given.homes.clients.http.closeSession({ session_id })
  expect(JSON.stringify(await given.homes.clients.http.getSession({ session_id }))).not.toContain('lovelace')
})

test('approvals show nothing of what the person does', async () => {
  const start_url = `${given.site.url}/`
  const client = given.homes.clients.http
  const session_id = (await client.createSession({ headless: true, start_url, confirm: ['submit'] })).session_id!
  const asked = await request(session_id)
  const view = await given.views.open(asked.control_url!)
  await waitForFrame(view)
  await takeOver(view)
  await view.getByLabel('Address').fill(`${given.site.url}/order?of=lovelace`)
  await view.keyboard.press('Enter')
  // The address is that of the input until the page has loaded.
  await waitUntil(() => given.site.requests.includes('/loaded'))
  await clickAt(view, 100, 20)
  await view.keyboard.press('Enter')
  await expect.poll(async () => (await client.listApprovals({})).total).toBe(1)
  const [approval] = (await client.listApprovals({})).approvals
  const { approval_id } = approval!
  expect(approval).toMatchObject({ kind: 'submit', summary: '[redacted]', url: '[redacted]' })
  expect(await client.approveAction({ session_id, approval_id })).toMatchObject({
    summary: '[redacted]',
    url: '[redacted]',
  })
  await untilAddress(view, '/account')
  await view.getByRole('button', { name: 'Done' }).click()
  await ended(asked)
  const { events } = await client.getSessionLog({ session_id })
  expect(events.filter(({ type }) => type.startsWith('approval.')).map(({ data }) => data)).toMatchObject([
    { approval_id, kind: 'submit', summary: '[redacted]', url: '[redacted]' },
    { approval_id, decision: 'approved', summary: '[redacted]', url: '[redacted]' },
  ])
})

test('the URL of a handoff opens no stream of events', async () => {
  const session_id = await create()
  const asked = await request(session_id)
  const stream = (url: string) =>
    fetch(`${given.homes.baseUrl}/stream/sse?session_id=${session_id}&${url.split('?')[1]!}`)
  const refused = await stream(asked.control_url!)
  expect(refused.status).toBe(401)
  expect(await refused.json()).toMatchObject({ code: 'unauthorized' })
  const view = await given.views.open(asked.control_url!)
  await waitForFrame(view)
  expect((await stream(view.url())).status).toBe(401)
})

const requestsTo = async (session_id: string, url: string) => {
  const { result } = await run(session_id, 'list_requests', { url })
  return (result as { value: { requests: { request_id: string }[] } }).value.requests
}
const detailsOf = async (session_id: string, requests: readonly { request_id: string }[]) => {
  const { request_id } = requests.at(-1)!
  return ((await run(session_id, 'get_request', { request_id }))['result'] as { value: object }).value
}

test('the details of a request hide what the person typed', async () => {
  const session_id = await create()
  const asked = await request(session_id)
  const view = await logIn(asked.control_url!)
  await view.getByRole('button', { name: 'Done' }).click()
  await ended(asked)
  await run(session_id, 'evaluate', {
    expression: `fetch(location.href, { method: 'POST', headers: { 'x-name': 'ada.lovelace' }, body: 'I am ada.lovelace' })
      .then((response) => response.text())`,
  })
  const details = await detailsOf(session_id, await requestsTo(session_id, '**/account*'))
  expect(JSON.stringify(details)).not.toContain('lovelace')
  expect(details).toMatchObject({
    url: `${given.site.url}/account?who=[redacted]`,
    request_headers: { 'x-name': '[redacted]' },
    request_body: { text: 'I am [redacted]' },
  })
})

test('a request that follows one of the person does not show its URL', async () => {
  held = undefined
  const session_id = await create()
  await run(session_id, 'evaluate', { expression: `document.forms[0].who.onclick = () => void fetch('/held')` })
  const asked = await request(session_id)
  const view = await given.views.open(asked.control_url!)
  await waitForFrame(view)
  await takeOver(view)
  await clickAt(view, 100, 20)
  await waitUntil(() => held !== undefined)
  await view.getByRole('button', { name: 'Done' }).click()
  await ended(asked)
  held!.writeHead(303, { location: '/account' }).end()
  await expect.poll(async () => (await requestsTo(session_id, '**/account')).length).toBe(1)
  const details = await detailsOf(session_id, await requestsTo(session_id, '**/account'))
  expect(details).toMatchObject({ url: `${given.site.url}/account` })
  expect(details).not.toHaveProperty('redirected_from')
})

test('events hide a text that was typed in pieces', async () => {
  const session_id = await create()
  const asked = await request(session_id)
  const view = await given.views.open(asked.control_url!)
  await waitForFrame(view)
  await takeOver(view)
  await clickAt(view, 100, 20)
  await view.keyboard.type('love')
  await view.keyboard.press('Home')
  await view.keyboard.type('ada.')
  await view.keyboard.press('End')
  await view.keyboard.type('lace')
  await view.getByRole('button', { name: 'Done' }).click()
  await ended(asked)
  expect(await valueOf(given.homes.clients.http, session_id, 'document.forms[0].who.value')).toBe('ada.lovelace')
  await run(session_id, 'evaluate', { expression: `console.log('I am ' + document.forms[0].who.value)` })
  const { events } = await given.homes.clients.http.getSessionLog({ session_id })
  const texts = events.filter(({ type }) => type === 'console').map(({ data }) => data['text'])
  expect(texts).toEqual(['I am [redacted]'])
})

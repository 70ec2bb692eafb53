/** Actions that wait for a person: code, downloads and submitted forms. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../support/client.ts'
import type { CommandResult } from '../../src/core/shapes/commands.ts'
import { waitingApproval, waitingApprovals } from '../support/approvals.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { command } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site
let client: Client
/** Lets the page with the button "Leave later" go on. */
let leave = () => {}
/** Requests that have reached the site. */
const received: string[] = []

const page = `<!doctype html><title>Shop</title>
  <form method=post action=/order><input name=item value=tea><button id=buy>Buy</button></form>
  <form method=post action=/order target=_blank><button id=elsewhere>Buy in a tab</button></form>
  <form id=quiet method=post action=/order><input name=item value=quiet></form>
  <form action=/search><input name=q value=tea><button id=search>Search</button></form>
  <a id=file href=/report download>Report</a>
  <button id=script onclick="quiet.submit()">Submit by script</button>
  <button id=fetch onclick="fetch('/order', { method: 'POST' })">Send by script</button>
  <button id=later onclick="fetch('/gate').then(() => { location.href = '/search' })">Leave later</button>
  <output id=result></output>`

const answer =
  (body: string, type = 'text/html') =>
  (request: IncomingMessage, response: ServerResponse) => {
    received.push(`${request.method} ${request.url}`)
    request.resume()
    response.writeHead(200, { 'content-type': type }).end(body)
  }

beforeAll(async () => {
  ;[homes, site] = await Promise.all([
    openHomes(),
    serveSite({
      '/': page,
      '/order': answer('<!doctype html><title>Ordered</title>'),
      '/search': answer('<!doctype html><title>Found</title>'),
      '/gate': (_, response) => void (leave = () => response.end()),
      '/report': answer('a,b\n1,2\n', 'text/csv'),
    }),
  ])
  client = homes.clients.http
})
afterAll(async () => {
  await homes?.close()
  await site?.close()
})

let id: string
const create = async (input: object) => {
  const made = await client.createSession({ headless: true, start_url: site.url, ...input })
  id = made.session_id!
  received.length = 0
}
afterEach(() => client.closeSession({ session_id: id }))

const one = async (name: string, data?: Record<string, unknown>, options = {}): Promise<CommandResult> =>
  (await client.runCommands({ session_id: id, commands: [command(name, data)] }, options)).results[0]!
const waiting = () => waitingApprovals(client)
const asked = () => waitingApproval(client)
const approve = async () => client.approveAction({ session_id: id, approval_id: (await asked()).approval_id })
const reject = async () => client.rejectAction({ session_id: id, approval_id: (await asked()).approval_id })
const events = async (type: string) =>
  (await client.getSessionLog({ session_id: id })).events.filter((event) => event.type === type)

describe('eval', () => {
  test('runs when it is approved', async () => {
    await create({ confirm: ['eval'] })
    const running = one('evaluate', { expression: '6 * 7' })
    expect(await asked()).toMatchObject({ kind: 'eval', command: 'evaluate', summary: '6 * 7', session_id: id })
    expect(await client.getSession({ session_id: id })).toMatchObject({ confirm: ['eval'], approvals_waiting: 1 })
    expect(await approve()).toMatchObject({ decision: 'approved', session_id: id })
    expect(await running).toMatchObject({ success: true, data: { result: { value: 42 } } })
    expect(await waiting()).toEqual([])
    expect(await events('approval.requested')).toMatchObject([{ data: { kind: 'eval', summary: '6 * 7' } }])
    expect(await events('approval.decided')).toMatchObject([{ data: { decision: 'approved' } }])
  })

  test.each([
    ['evaluate', { expression: '6 * 7' }],
    ['click', { selector: '#buy' }],
  ])('has the context of its batch, if there is one: %s', async (name, data) => {
    await create({ confirm: ['eval', 'submit'] })
    const plain = one('evaluate', { expression: 'document.title' })
    expect(await asked()).not.toHaveProperty('context')
    await approve()
    await plain
    const context = { task: 'tea' }
    const running = client.runCommands({ session_id: id, commands: [command(name, data)], context })
    expect(await asked()).toMatchObject({ command: name, context })
    await approve()
    expect((await running).success).toBe(true)
  })

  test('of code in a sandbox has the context of that', async () => {
    await create({ confirm: ['eval'] })
    const context = { task: 'tea' }
    const running = client.runCode({ session_id: id, code: "return bax.evaluate('6 * 7')", context })
    expect(await asked()).toMatchObject({ command: 'evaluate', context })
    await approve()
    expect(await running).toMatchObject({ success: true, result: 42 })
  })

  test('does not run when it is rejected, and the batch stops', async () => {
    await create({ confirm: ['eval'] })
    const commands = [command('evaluate', { expression: 'document.title = "changed"' }), command('get_title')]
    const running = client.runCommands({ session_id: id, commands })
    await reject()
    expect(await running).toMatchObject({
      success: false,
      code: 'rejected',
      results: [{ code: 'rejected', details: { executed: false } }, { skipped: true }],
    })
    expect(await one('get_title')).toMatchObject({ data: { result: { value: 'Shop' } } })
  })

  test('fails when nobody approves it in time', async () => {
    await create({ confirm: ['eval'], confirm_timeout_secs: 1 })
    expect(await one('evaluate', { expression: 'document.title = "changed"' })).toMatchObject({
      success: false,
      code: 'confirmation_timeout',
      error: 'not executed: nobody approved eval within 1 s',
    })
    expect(await waiting()).toEqual([])
    expect(await one('get_title')).toMatchObject({ data: { result: { value: 'Shop' } } })
  })

  test.each([
    ['evaluate_on_element', { selector: '#result', expression: 'this.id' }],
    ['wait_for', { function: 'true' }],
    ['add_init_script', { script: 'window.added = true' }],
    ['add_route', { url: '**/x', body: '<script>added = true</script>' }],
  ])('includes %s', async (name, data) => {
    await create({ confirm: ['eval'] })
    const running = one(name, data)
    expect(await reject()).toMatchObject({ kind: 'eval', command: name })
    expect(await running).toMatchObject({ success: false, code: 'rejected' })
  })

  test('does not run in another page than the one that was asked about', async () => {
    await create({ confirm: ['eval'] })
    await one('click', { selector: '#later' })
    await expect.poll(() => site.requests).toContain('/gate')
    const running = one('evaluate', { expression: 'document.title = "changed"' })
    expect(await asked()).toMatchObject({ url: `${site.url}/` })
    leave()
    expect(await running).toMatchObject({
      code: 'navigation_aborted',
      error: 'not executed: the page left before it was approved',
    })
    expect(await waiting()).toEqual([])
    // The document has no title yet when it replaces the other one.
    await expect.poll(() => one('get_title')).toMatchObject({ data: { result: { value: 'Found' } } })
  })

  test('includes raw CDP calls; CDP clients are not served', async () => {
    await create({ confirm: ['download'] })
    expect((await client.getSession({ session_id: id })).cdp_url).toBeNull()
    const running = client.cdp({ session_id: id, method: 'Runtime.evaluate', params: { expression: '1' } })
    const outcome = expect(running).rejects.toMatchObject({ code: 'rejected', status: 403 })
    expect(await reject()).toMatchObject({ kind: 'eval', command: 'cdp' })
    await outcome
  })

  test('is shown to people as it is', async () => {
    await create({ confirm: ['eval'] })
    const hidden = `"\u001b[8m\u202e"; ${' '.repeat(3000)}1`
    const running = one('evaluate', { expression: hidden })
    expect((await asked()).summary).toMatch(/^"\\u\{1b\}\[8m\\u\{202e\}"; +… \(\d+ more characters\)$/)
    await reject()
    await running
  })

  test('leaves nothing behind when the caller disconnects or the session ends', async () => {
    await create({ confirm: ['eval'] })
    const leaving = new AbortController()
    const running = one('evaluate', { expression: 'document.title = "changed"' }, { signal: leaving.signal })
    const left = expect(running).rejects.toThrow()
    await asked()
    leaving.abort()
    await left
    await expect.poll(waiting).toEqual([])
    expect(await one('get_title')).toMatchObject({ data: { result: { value: 'Shop' } } })
    const ended = one('evaluate', { expression: '1' })
    await asked()
    await client.closeSession({ session_id: id })
    expect(await ended.catch((error: unknown) => error)).toMatchObject({ code: 'session_closed' })
    expect(await waiting()).toEqual([])
  })

  test('does not hold other commands', async () => {
    await create({ confirm: ['eval'] })
    expect(await one('click', { selector: '#buy' })).toMatchObject({ success: true })
    expect(received).toEqual(['POST /order'])
  })
})

describe('submit', () => {
  test.each([
    ['a click', '#buy', '/order'],
    ['a script of the page', '#script', '/order'],
  ])('holds %s until it is approved', async (_, selector, path) => {
    await create({ confirm: ['submit'] })
    const running = one('click', { selector })
    expect(await asked()).toMatchObject({ kind: 'submit', command: 'click', summary: `POST ${site.url}${path}` })
    expect(received).toEqual([])
    await approve()
    expect(await running).toMatchObject({ success: true })
    await expect.poll(() => received).toEqual(['POST /order'])
  })

  test('holds a form that opens a tab, whose click may not wait', async () => {
    await create({ confirm: ['submit'] })
    const running = one('click', { selector: '#elsewhere' })
    expect(await asked()).toMatchObject({ kind: 'submit', summary: `POST ${site.url}/order` })
    expect(received).toEqual([])
    await reject()
    await running
    expect(await events('approval.decided')).toMatchObject([{ data: { decision: 'rejected' } }])
    expect(received).toEqual([])
  })

  test('is not sent when it is rejected, and the page stays', async () => {
    await create({ confirm: ['submit'] })
    const running = one('click', { selector: '#buy' })
    await reject()
    expect(await running).toMatchObject({ success: false, code: 'rejected' })
    expect(received).toEqual([])
    expect(await one('get_title')).toMatchObject({ data: { result: { value: 'Shop' } } })
  })

  test('is not sent when nobody approves it in time', async () => {
    await create({ confirm: ['submit'], confirm_timeout_secs: 1 })
    expect(await one('press_key', { selector: '[name=item]', key: 'Enter' })).toMatchObject({
      code: 'confirmation_timeout',
    })
    expect(received).toEqual([])
  })

  test('may wait for longer than a command', async () => {
    await create({ confirm: ['submit'] })
    const running = one('click', { selector: '#buy', timeout_ms: 4000 })
    const { created_at } = await asked()
    // The time of the click passes meanwhile.
    await waitUntil(() => Date.now() - Date.parse(created_at) > 5000)
    await approve()
    expect(await running).toMatchObject({ success: true })
    expect(received).toEqual(['POST /order'])
  })

  test('does not hold searches and requests of scripts', async () => {
    await create({ confirm: ['submit'] })
    expect(await one('click', { selector: '#fetch' })).toMatchObject({ success: true })
    // The next page would abort it.
    await expect.poll(() => received).toEqual(['POST /order'])
    expect(await one('click', { selector: '#search' })).toMatchObject({ success: true })
    expect(received).toEqual(['POST /order', 'GET /search?q=tea'])
  })
})

describe('download', () => {
  test('is stored when it is approved', async () => {
    await create({ confirm: ['download'] })
    const running = one('click', { selector: '#file' })
    expect(await asked()).toMatchObject({
      kind: 'download',
      command: 'click',
      summary: expect.stringMatching(/report/),
    })
    expect((await client.listSessionFiles({ session_id: id })).files).toEqual([])
    await approve()
    expect(await running).toMatchObject({ success: true, downloads: [{ state: 'completed' }] })
    expect((await client.listSessionFiles({ session_id: id })).files).toMatchObject([{ source: 'download' }])
  })

  test('is deleted when it is rejected', async () => {
    await create({ confirm: ['download'] })
    const running = one('click', { selector: '#file' })
    await reject()
    expect(await running).toMatchObject({ success: false, code: 'rejected', downloads: [{ state: 'failed' }] })
    expect((await client.listSessionFiles({ session_id: id })).files).toEqual([])
  })
})

test('unknown approvals are not found', async () => {
  await create({ confirm: ['eval'] })
  const unknown = { session_id: id, approval_id: 'apr_unknown' }
  await expect(client.approveAction(unknown)).rejects.toMatchObject({ code: 'approval_not_found' })
  await expect(client.rejectAction(unknown)).rejects.toMatchObject({ code: 'approval_not_found' })
})

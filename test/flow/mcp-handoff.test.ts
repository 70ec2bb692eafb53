/** Handoffs for clients that can show a URL to their person (`input_required`). */
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildBax, type BuiltBax } from '../support/cli.ts'
import { request, type RunningServer, serve, stop } from '../support/server.ts'
import { serveSite, type Site } from '../support/site.ts'

interface Question {
  readonly mode?: string
  readonly url?: string
  readonly message: string
}

let built: BuiltBax
let server: RunningServer
let key: string
let site: Site
let session = ''
const questions: Question[] = []
/** Action of the user after the client has shown a URL. */
let person: (question: Question) => Promise<'accept' | 'decline' | 'cancel'>

async function connect(capabilities: ClientOptions['capabilities']): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  if (capabilities?.elicitation)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      questions.push(params as Question)
      return { action: await person(params as Question) }
    })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers: { 'x-api-key': key } } }),
  )
  return client
}

async function call(client: Client, name: string, args: Record<string, unknown>) {
  const { content, isError } = await client.callTool({ name, arguments: args })
  return { isError, text: content.map((one) => (one.type === 'text' ? one.text : '')).join('\n') }
}

beforeAll(async () => {
  built = await buildBax()
  site = await serveSite({ '/': '<title>Home</title>', '/account': '<title>Account</title><h1>Welcome</h1>' })
  const stateDir = await built.stateDir()
  key = (await built.run(['key', 'create', 'agent'], { env: { BAX_STATE_DIR: stateDir } })).stdout.trim()
  server = await serve(built, [], { stateDir })
})
afterAll(async () => {
  if (server) expect(await stop(server)).toBe(0)
  await site?.close()
  await built?.close()
})

const api = async (method: string, path: string, body?: object) =>
  (await request(server.url, method, path, body, { 'x-api-key': key })).body

const open = async (client: Client) => {
  session = /session: (ses_[\w-]+)/.exec((await call(client, 'browser_open', { url: site.url })).text)![1]!
}
const handoffs = async () => (await api('GET', '/handoffs')).handoffs as { session_id: string; status: string }[]

describe('a client that can show URLs', () => {
  test('shows the one of the handoff, and gets what has changed', async () => {
    const client = await connect({ elicitation: { url: {} } })
    await open(client)
    person = async ({ url }) => {
      expect((await fetch(url!)).status).toBe(200)
      const commands = [{ command: 'navigate_to', data: { url: `${site.url}/account` } }]
      await api('POST', '/commands', { session_id: session, commands })
      return 'accept'
    }
    const args = { reason: 'log in to the shop', until: 'url:**/account', session }
    const { text, isError } = await call(client, 'browser_handoff', args)
    expect(isError).not.toBe(true)
    expect(text).toContain('Welcome')
    expect(questions).toMatchObject([
      { mode: 'url', message: 'log in to the shop', url: expect.stringContaining(`/live/${session}?token=`) },
    ])
    await client.close()
  })

  test.each(['decline', 'cancel'] as const)('withdraws the handoff after %s', async (answer) => {
    const client = await connect({ elicitation: { url: {}, form: {} } })
    await open(client)
    person = async () => {
      expect(await handoffs()).toContainEqual(expect.objectContaining({ session_id: session, status: 'waiting' }))
      return answer
    }
    expect(await call(client, 'browser_handoff', { reason: 'solve the captcha', session })).toMatchObject({
      isError: true,
      text: expect.stringContaining('the user has not opened the URL [rejected]'),
    })
    expect((await handoffs()).filter((one) => one.session_id === session)).toEqual([])
    await client.close()
  })

  test('cannot continue with a state that is none, or with the handoff of nobody', async () => {
    const client = await connect({ elicitation: { url: {} } })
    await open(client)
    const repeat = async (requestState: string) => {
      const repeated = {
        name: 'browser_handoff',
        arguments: { reason: 'log in', session },
        requestState,
        inputResponses: { url: { action: 'accept' } },
      }
      return JSON.stringify(await client.callTool(repeated as never))
    }
    for (const state of ['{}', 'no JSON', 'null', '[]']) expect(await repeat(state)).toContain('requestState must be')
    expect(await repeat(JSON.stringify({ session_id: session, handoff_id: 'hnd_none' }))).toContain('handoff_not_found')
    await client.close()
  })
})

test('a client that has only forms gets the URL as text', async () => {
  const client = await connect({ elicitation: { form: {} } })
  await open(client)
  questions.length = 0
  const { text } = await call(client, 'browser_handoff', { reason: 'log in to the shop', session })
  expect(text).toContain(`give this URL to the user: ${server.url}/live/${session}?token=`)
  expect(questions).toEqual([])
  await client.close()
})

/** Actions that wait for a person whom the client itself can ask (`input_required`). */
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startFleet, type TestFleet } from '../support/fleet.ts'
import { buildBax, type BuiltBax, processEnv } from '../support/cli.ts'
import { titled } from '../support/needs.ts'
import { noRedis } from '../support/redis.ts'
import { serveSite, type Site } from '../support/site.ts'

type Reply = { action: 'accept'; content: { decision: string } } | { action: 'decline' | 'cancel' }

const approve: Reply = { action: 'accept', content: { decision: 'approve' } }

/** A client whose person answers with the replies, in order. */
class AskedClient {
  readonly questions: string[] = []
  readonly client: Client
  replies: Reply[] = []

  constructor(capabilities: ClientOptions['capabilities'] = { elicitation: { form: {} } }) {
    const versionNegotiation = { mode: { pin: '2026-07-28' } }
    this.client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation })
    if (capabilities?.elicitation)
      this.client.setRequestHandler('elicitation/create', ({ params }) => {
        this.questions.push(params.message)
        return this.replies.shift()!
      })
  }

  async call(name: string, args: Record<string, unknown>) {
    const { content, isError } = await this.client.callTool({ name, arguments: args })
    return { isError, text: content.map((one) => (one.type === 'text' ? one.text : '')).join('\n') }
  }

  async open(url: string): Promise<string> {
    return /session: (ses_[\w-]+)/.exec((await this.call('browser_open', { url })).text)![1]!
  }
}

let site: Site
beforeAll(async () => {
  site = await serveSite({ '/': '<!doctype html><title>Home</title><h1>Home</h1>' })
})
afterAll(() => site?.close())

/** The behaviour that all ways to reach bax share. */
function asksItsPerson(connect: (asked: AskedClient) => Promise<void>) {
  test('goes on after a yes, with the results of all commands', async () => {
    const asked = new AskedClient()
    await connect(asked)
    const session = await asked.open(site.url)
    asked.replies = [approve, approve]
    const commands = ['eval "document.title = `1`"', 'eval "document.title += `2`"', 'get title']
    const { text } = await asked.call('browser_act', { commands, session })
    expect(text).toContain('get-title: 12')
    expect(asked.questions).toEqual([
      `Allow eval by evaluate on ${site.url}/?\ndocument.title = \`1\``,
      `Allow eval by evaluate on ${site.url}/?\ndocument.title += \`2\``,
    ])
    await asked.call('browser_session', { action: 'close', session })
    await asked.client.close()
  })

  test('is asked about the actions of each of its calls in one session', async () => {
    const asked = new AskedClient()
    await connect(asked)
    const session = await asked.open(site.url)
    asked.replies = [{ action: 'decline' }, approve, approve]
    const calls = [
      asked.call('browser_act', { commands: ['eval "1 + 1"'], session }),
      asked.call('browser_act', { commands: ['eval "2 + 2"'], session }),
      asked.call('browser_code', { code: "return bax.evaluate('3 + 3')", session }),
    ]
    const refused = (await Promise.all(calls)).filter(({ isError }) => isError)
    expect(asked.questions.map((text) => text.split('\n')[1]).toSorted()).toEqual(['1 + 1', '2 + 2', '3 + 3'])
    expect(refused).toMatchObject([{ text: expect.stringContaining('[rejected]') }])
    await asked.call('browser_session', { action: 'close', session })
    await asked.client.close()
  })

  test.each<Reply>([
    { action: 'accept', content: { decision: 'reject' } },
    { action: 'decline' },
    { action: 'cancel' },
  ])('is refused after %j', async (reply) => {
    const asked = new AskedClient()
    await connect(asked)
    const session = await asked.open(site.url)
    asked.replies = [reply]
    const refused = await asked.call('browser_act', { commands: ['eval "document.title = `changed`"'], session })
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('[rejected]') })
    expect((await asked.call('browser_act', { commands: ['get title'], session })).text).toContain('Home')
    expect(asked.questions).toHaveLength(1)
    await asked.call('browser_session', { action: 'close', session })
    await asked.client.close()
  })
}

describe('a client of bax mcp', () => {
  let built: BuiltBax
  let env: Record<string, string>
  beforeAll(async () => {
    built = await buildBax()
    env = { ...processEnv, BAX_STATE_DIR: await built.stateDir() }
  })
  afterAll(() => built?.close())
  const connect = ({ client }: AskedClient) =>
    client.connect(
      new StdioClientTransport({ command: process.execPath, args: [built.program, 'mcp', '--confirm', 'eval'], env }),
    )

  asksItsPerson(connect)

  test('is asked for scripts, too', async () => {
    const asked = new AskedClient()
    await connect(asked)
    asked.replies = [approve]
    const { text } = await asked.call('browser_script', { script: 'steps:\n  - evaluate: 6 * 7\n' })
    expect(text).toContain('1 passed')
    expect(asked.questions).toHaveLength(1)
    await asked.client.close()
  })

  test('decides nothing with the answer to a call that is lost', async () => {
    const asked = new AskedClient()
    await connect(asked)
    const session = await asked.open(site.url)
    const running = built.start(['eval', 'document.title', '-s', session], { env })
    const waiting = async () => {
      const { stdout } = await built.run(['approve', '--json'], { env })
      return (JSON.parse(stdout) as { approvals: { approval_id: string }[] }).approvals
    }
    await expect.poll(waiting).toHaveLength(1)
    const [{ approval_id }] = (await waiting()) as [{ approval_id: string }]
    const repeated = {
      name: 'browser_act',
      arguments: { commands: ['get title'], session },
      requestState: JSON.stringify({ call: crypto.randomUUID(), session_id: session, approval_id }),
      inputResponses: { approval: approve },
    }
    expect(JSON.stringify(await asked.client.callTool(repeated as never))).toContain('was lost [cancelled]')
    expect(await waiting()).toMatchObject([{ approval_id }])
    await built.run(['approve', approval_id], { env })
    expect((await running.ended).stdout).toBe('Home\n')
    await asked.client.close()
  })

  test('that cannot ask waits for somebody else', async () => {
    const silent = new AskedClient({})
    await connect(silent)
    const session = await silent.open(site.url)
    const running = silent.call('browser_act', { commands: ['eval document.title'], session })
    const waiting = async () => (await built.run(['approve', '--json'], { env })).stdout
    await expect.poll(waiting).toContain('document.title')
    await built.run(['approve', '--all'], { env })
    expect((await running).text).toContain('Home')
    await silent.client.close()
  })
})

describe.skipIf(noRedis)(titled('a client of two gateways, which answer in turn', noRedis), () => {
  let fleet: TestFleet
  let gateways: string[]
  beforeAll(async () => {
    fleet = await startFleet()
    gateways = [fleet.gateway.url, (await fleet.addGateway()).url]
  })
  afterAll(() => fleet?.close())
  let requests = 0
  const alternately = (url: string | URL, init?: RequestInit) => {
    requests += 1
    const { pathname, search } = new URL(url)
    return fetch(`${gateways[requests % 2]}${pathname}${search}`, init)
  }
  const connect = ({ client }: AskedClient) =>
    client.connect(
      new StreamableHTTPClientTransport(new URL(`${gateways[0]}/mcp?confirm=eval`), { fetch: alternately }),
    )

  asksItsPerson(connect)

  test('may not repeat a call that was lost', async () => {
    const asked = new AskedClient()
    await connect(asked)
    const session = await asked.open(site.url)
    const requestState = JSON.stringify({ call: crypto.randomUUID(), session_id: session, approval_id: 'apr_none' })
    const repeat = (state: string) =>
      asked.client.callTool({
        name: 'browser_act',
        arguments: { commands: ['get title'], session },
        requestState: state,
      } as never)
    expect(JSON.stringify(await repeat(requestState))).toContain('was lost [cancelled]')
    expect(JSON.stringify(await repeat('{}'))).toContain('requestState must be')
    await asked.call('browser_session', { action: 'close', session })
    await asked.client.close()
  })
})

/**
 * A fixed program as an agent, over MCP and `bax serve`: tasks that need a person once, and log-ins with stored
 * credentials. The text that the person types and the secrets of the credentials appear nowhere.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { demoSite } from '../../src/demo/site.ts'
import { listen } from '../../src/server/process/listen.ts'
import { spellingsOf } from '../support/attacks.ts'
import { account, loginPages } from '../support/login-site.ts'
import { passkeySite } from '../support/passkey-site.ts'
import { type ScriptedAgent, startAgent } from '../support/scripted-agent.ts'
import { serveSite, type Site } from '../support/site.ts'
import { clickAt } from '../support/views.ts'

/** Questions that a person answers before the shop opens, each with its only right answer. */
const questions = [
  { path: '/captcha', label: 'Word in the picture', answer: 'tulip-4417-lamp' },
  { path: '/second-factor', label: 'Code of your phone', answer: 'zx-483920-qv' },
  { path: '/consent', label: 'Signature', answer: 'Grace.Brewster' },
]

const question = (path: string, label: string) =>
  `<!doctype html><title>${label}</title><style>* { margin: 0; font: 20px monospace } input, button { display: block; width: 400px; height: 40px }</style>
  <form method=post action=${path}><input name=answer aria-label="${label}"><button>Continue</button></form>`

let shop: Awaited<ReturnType<typeof listen>>
let site: Site
let agent: ScriptedAgent

const secrets = [
  ...questions.flatMap(({ answer }) => spellingsOf(answer)),
  ...spellingsOf(account.password),
  account.totp,
  // The beginning of every private key of the passkeys, in base64.
  'MIGHAgEAMBMGByqGSM49',
]

/** Asks the question of a page, and opens the shop for the right answer. */
const asking = ({ path, label, answer }: (typeof questions)[number]) =>
  [
    path,
    async (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const isRight = new URLSearchParams(Buffer.concat(chunks).toString()).get('answer') === answer
      if (isRight) response.writeHead(303, { location: `${shop.address}/shop` }).end()
      else response.setHeader('content-type', 'text/html').end(question(path, label))
    },
  ] as const

beforeAll(async () => {
  shop = await listen(demoSite(), { host: '127.0.0.1', port: 0 })
  // RP IDs of passkeys are names of hosts.
  const pages = { ...passkeySite().pages, ...loginPages, ...Object.fromEntries(questions.map(asking)) }
  site = await serveSite(pages, 'localhost')
  agent = await startAgent(() => secrets)
  const origins = [site.url]
  await agent.store({ name: 'ann', origins, ...account })
  await agent.store({ name: 'key', origins, username: 'ann', passkey: true })
})
afterAll(async () => {
  await agent?.close(2)
  await site?.close()
  await shop?.close()
})
afterEach(() => agent.finish(site.url))

describe('a person', () => {
  test.each(questions)('answers once, and the agent goes on in the shop: $label', async ({ path, label, answer }) => {
    await agent.open(site.url + path)
    const result = await agent.handOver(label, async (view) => {
      await clickAt(view, 100, 20)
      await view.keyboard.type(answer)
      await view.keyboard.press('Enter')
      await view.waitForFunction(() => document.querySelector<HTMLInputElement>('#address')!.value.endsWith('/shop'))
    })
    expect(result).toContain('title: Shop')
    expect(await agent.act('get title')).toContain('Shop')
  })
})

describe('a stored credential', () => {
  test('logs in with a password and a one-time code', async () => {
    await agent.open(`${site.url}/with-code`)
    expect(await agent.act('login ann')).toContain('Welcome Ann')
  })

  test('logs in with a passkey', async () => {
    await agent.open(`${site.url}/settings`)
    await agent.act('use-passkey key', 'click "text=Create a passkey"', 'wait-for --text "Passkey created"')
    await agent.call('browser_open', { url: `${site.url}/login` })
    expect(await agent.act('login key')).toContain('Welcome Ann')
  })
})

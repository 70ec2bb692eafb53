/**
 * A fixed program as an agent, over MCP and `bax serve`: tasks that need a person once, and log-ins with stored
 * credentials. The text that the person types and the secrets of the credentials appear nowhere.
 */
import { readdir, readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { demoSite } from '../../src/demo/site.ts'
import { listen } from '../../src/server/process/listen.ts'
import { spellingsOf } from '../support/attacks.ts'
import { buildBax, type BuiltBax } from '../support/cli.ts'
import { account, loginPages } from '../support/login-site.ts'
import { connectMcp, type McpClient } from '../support/mcp.ts'
import { passkeySite } from '../support/passkey-site.ts'
import { type RunningServer, serve, stop } from '../support/server.ts'
import { serveSite, type Site } from '../support/site.ts'
import { clickAt, openViews, takeOver, type Views, waitForFrame } from '../support/views.ts'

/** Questions that a person answers before the shop opens, each with its only right answer. */
const questions = [
  { path: '/captcha', label: 'Word in the picture', answer: 'tulip-4417-lamp' },
  { path: '/second-factor', label: 'Code of your phone', answer: 'zx-483920-qv' },
  { path: '/consent', label: 'Signature', answer: 'Grace.Brewster' },
]

const question = (path: string, label: string) =>
  `<!doctype html><title>${label}</title><style>* { margin: 0; font: 20px monospace } input, button { display: block; width: 400px; height: 40px }</style>
  <form method=post action=${path}><input name=answer aria-label="${label}"><button>Continue</button></form>`

let built: BuiltBax
let server: RunningServer
let stateDir: string
let shop: Awaited<ReturnType<typeof listen>>
let site: Site
let views: Views
let mcp: McpClient

const secrets = [
  ...questions.flatMap(({ answer }) => spellingsOf(answer)),
  ...spellingsOf(account.password),
  account.totp,
  // The beginning of every private key of the passkeys, in base64.
  'MIGHAgEAMBMGByqGSM49',
]

function expectNoSecret(texts: readonly string[]): void {
  for (const text of texts) {
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
    // One-time codes, as forms send them.
    expect(text).not.toMatch(/\b(?:code|otp)=\d{6}\b/)
  }
}

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
  built = await buildBax()
  shop = await listen(demoSite(), { host: '127.0.0.1', port: 0 })
  // RP IDs of passkeys are names of hosts.
  const pages = { ...passkeySite().pages, ...loginPages, ...Object.fromEntries(questions.map(asking)) }
  site = await serveSite(pages, 'localhost')
  views = await openViews()
  stateDir = await built.stateDir()
  server = await serve(built, ['--log-level', 'debug', '--allow-private', '::1'], { stateDir })
  const origins = [site.url]
  await server.request('POST', '/credentials', { name: 'ann', origins, ...account })
  await server.request('POST', '/credentials', { name: 'key', origins, username: 'ann', passkey: true })
  mcp = await connectMcp(['--caps', 'recording'], { env: { BAX_STATE_DIR: await built.stateDir() } }, [
    '--server',
    server.url,
  ])
})
afterAll(async () => {
  await mcp?.close()
  if (server) {
    expect(await stop(server)).toBe(0)
    const { stdout, stderr } = await server.ended
    expect(stderr).toContain('/sessions/')
    expectNoSecret([stdout, stderr])
    const stored = await readdir(stateDir, { recursive: true, withFileTypes: true })
    const files = stored.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    expect(files.filter((file) => file.includes('/credentials/'))).toHaveLength(2)
    expectNoSecret(await Promise.all(files.map((file) => readFile(file, 'latin1'))))
  }
  await views?.close()
  await site?.close()
  await shop?.close()
  await built?.close()
})

/** Calls a tool, which must succeed; returns its text. */
async function call(name: string, args: Record<string, unknown>): Promise<string> {
  const { isError, text } = await mcp.call(name, args)
  expect({ isError, text }).toEqual({ isError: undefined, text })
  return text
}

const act = (...commands: string[]) => call('browser_act', { commands })

/** Opens a page, and records everything that happens. */
async function open(path: string): Promise<void> {
  await call('browser_open', { url: site.url + path })
  await act('start-har', 'start-trace')
}

/** Returns what the session has recorded and reports. */
async function traces(): Promise<string[]> {
  await act('stop-har', 'stop-trace')
  const read = async (path: string) => (await server.request('GET', path)).body
  const id = (await read('/sessions')).sessions[0].session_id as string
  const paths = ['/sessions', `/sessions/${id}`, `/sessions/${id}/script`, `/diagnostics/${id}/log`, '/credentials']
  const texts = (await Promise.all(paths.map(read))).map((body) => JSON.stringify(body))
  const { files } = (await read(`/sessions/${id}/files`)) as { files: { name: string }[] }
  expect(files).toHaveLength(2)
  for (const { name } of files) {
    const bytes = new Uint8Array(await (await fetch(`${server.url}/sessions/${id}/files/${name}`)).arrayBuffer())
    const isZip = bytes[0] === 0x50 && bytes[1] === 0x4b
    const parts = isZip ? Object.values(unzipSync(bytes)) : [bytes]
    texts.push(...parts.map((part) => Buffer.from(part).toString('latin1')))
  }
  return texts
}

afterEach(async () => {
  await views.clear()
  const texts = await traces()
  expect(texts.filter((text) => text.includes(site.url)).length).toBeGreaterThan(3)
  expectNoSecret([...texts, mcp.output.join('')])
  await call('browser_session', { action: 'close' })
})

describe('a person', () => {
  test.each(questions)('answers once, and the agent goes on in the shop: $label', async ({ path, label, answer }) => {
    await open(path)
    const asked = await call('browser_handoff', { reason: label })
    const [, url, handoff_id] = /^give this URL to the user: (\S+)\nthen .* (hnd_\S+) to wait$/.exec(asked)!
    const view = await views.open(url!)
    await waitForFrame(view)
    await takeOver(view)
    await clickAt(view, 100, 20)
    await view.keyboard.type(answer)
    await view.keyboard.press('Enter')
    await view.waitForFunction(() => document.querySelector<HTMLInputElement>('#address')!.value.endsWith('/shop'))
    await view.getByRole('button', { name: 'Done' }).click()
    expect(await call('browser_handoff', { handoff_id })).toContain('title: Shop')
    expect(await act('get title')).toContain('Shop')
  })
})

describe('a stored credential', () => {
  test('logs in with a password and a one-time code', async () => {
    await open('/with-code')
    expect(await act('login ann')).toContain('Welcome Ann')
  })

  test('logs in with a passkey', async () => {
    await open('/settings')
    await act('use-passkey key', 'click "text=Create a passkey"', 'wait-for --text "Passkey created"')
    await call('browser_open', { url: `${site.url}/login` })
    expect(await act('login key')).toContain('Welcome Ann')
  })
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { noConfig } from '../support/no-config.ts'
import { type FarNetwork, makeFarNetwork, noNetworkBecause } from '../support/far-network.ts'
import { type ForeignBrowser, startForeignBrowser } from '../support/foreign-browser.ts'
import { titled } from '../support/needs.ts'
import { puppeteerModule } from '../support/puppeteer.ts'
import { serveSite, type Site } from '../support/site.ts'
import { tied } from '../support/tied.ts'
import { waitUntil } from '../support/wait.ts'

// The server only listens on loopback, because it has no keys: a forwarder between the networks connects to it, and
// delays everything by 25 ms in each direction.
const oneWayMs = 25

const account = `<!doctype html><title>Account</title><h1>Hello Ada</h1>
<button id="playwright">0</button><button id="puppeteer">0</button><button id="bax">0</button>
<script>for (const button of document.querySelectorAll('button')) button.onclick = () => {
  button.textContent = Number(button.textContent) + 1
  console.log('clicked', button.id, button.textContent)
}</script>`

describe.skipIf(noNetworkBecause)(
  titled('a local browser with a server and clients in another network', noNetworkBecause),
  () => {
    let built: BuiltBax
    let site: Site
    let foreign: ForeignBrowser
    let network: FarNetwork
    let folder: string

    beforeAll(async () => {
      ;[built, site, foreign, network, folder] = await Promise.all([
        buildBax(),
        serveSite({
          '/login': (_, response) => response.setHeader('set-cookie', 'sid=ada; HttpOnly').end('<title>In</title>'),
          '/account': ({ headers }, response) => {
            const known = headers.cookie?.includes('sid=ada')
            response.setHeader('content-type', 'text/html').end(known ? account : '<h1>Please log in</h1>')
          },
        }),
        startForeignBrowser(),
        makeFarNetwork(),
        mkdtemp(join(tmpdir(), 'bax-test-far-')),
      ])
      // The user logs in before any client connects.
      await foreign.evaluate('about:blank', `location.href = ${JSON.stringify(`${site.url}/login`)}`)
      await waitUntil(async () => (await foreign.pages()).includes(`${site.url}/login`))
      await foreign.evaluate('/login', `location.href = '/account'`)
      await waitUntil(async () => (await foreign.pages()).includes(`${site.url}/account`))
    })
    afterAll(async () => {
      await foreign.close()
      await network.close()
      await site.close()
      await built.close()
      await rm(folder, { recursive: true, force: true })
    })

    /** Runs a program in the other network and returns its output and exit. */
    function startFar(argv: readonly string[], env: Record<string, string> = {}) {
      const [inside, ...rest] = network.inside
      const [program, args] = tied(inside!, [...rest, process.execPath, ...argv])
      const child = spawn(program, args, {
        env: { PATH: process.env['PATH'], HOME: folder, BAX_CONFIG: noConfig, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const out = { text: '', errors: '' }
      child.stdout.on('data', (chunk: Buffer) => (out.text += chunk))
      child.stderr.on('data', (chunk: Buffer) => (out.errors += chunk))
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
      return { child, out, ended }
    }

    const finish = async ({ out, ended }: ReturnType<typeof startFar>): Promise<string> => {
      const code = await ended
      if (code !== 0) throw new Error(`ended with ${code}: ${out.errors}`)
      return out.text
    }

    test('its logged-in page is driven by Playwright, Puppeteer and bax concurrently, while its events are followed', async () => {
      const puppeteer = await puppeteerModule()
      const state = { BAX_STATE_DIR: folder }
      const server = startFar([built.program, 'serve', '--port', '0', '--allow-host', network.address], state)
      await waitUntil(() => server.out.errors.includes('http://127.0.0.1:'))
      const address = /http:\/\/127\.0\.0\.1:(\d+)/.exec(server.out.errors)!
      const far = { BAX_SERVER: address[0] }
      const bax = (...argv: string[]) => startFar([built.program, ...argv], far)

      const token = (await finish(bax('relay', 'tokens', 'create', '--single-use'))).trim()
      const port = await network.forward(Number(address[1]), oneWayMs)
      const connector = built.start(['relay', 'connect', '--cdp', foreign.url, '--name', 'laptop'], {
        env: {
          BAX_SERVER: `http://${network.address}:${port}`,
          BAX_RELAY_TOKEN: token,
          BAX_STATE_DIR: join(folder, 'near'),
        },
      })
      await connector.waitForStderr('^C disconnects the browser')
      const record = async () => JSON.parse(await finish(bax('relay', 'show', 'laptop', '--json')))
      await waitUntil(async () => (await record()).active_target_id !== null)

      const events = bax('relay', 'events', 'laptop', '--follow', '--kind', 'console')
      const { cdp_url: socket } = await record()
      const drive = fileURLToPath(new URL('../support/drive-page.mjs', import.meta.url))
      const clickByHand = async () => {
        const words = ['do', 'get-text', '#bax', '-s', 'laptop']
        while ((await finish(bax(...words))).trim() !== '5') await finish(bax('do', 'click', '#bax', '-s', 'laptop'))
      }
      const [byPlaywright, byPuppeteer] = await Promise.all([
        finish(startFar([drive, 'playwright', socket, 'playwright'])),
        finish(startFar([drive, puppeteer, socket, 'puppeteer'])),
        clickByHand(),
      ])
      expect(JSON.parse(byPlaywright)).toEqual({ greeting: 'Hello Ada' })
      expect(JSON.parse(byPuppeteer)).toEqual({ greeting: 'Hello Ada' })

      // No click is executed twice.
      const counts = `[...document.querySelectorAll('button')].map((button) => button.textContent).join()`
      expect(await foreign.evaluate('/account', counts)).toBe('5,5,5')
      const clicks = ['playwright', 'puppeteer', 'bax'].flatMap((who) =>
        [1, 2, 3, 4, 5].map((at) => `clicked ${who} ${at}`),
      )
      await waitUntil(() => clicks.every((click) => events.out.text.includes(click)))
      expect(events.out.text).not.toContain('sid=ada')

      connector.child.kill('SIGINT')
      expect((await connector.ended).code).toBe(130)
      expect(await foreign.pages()).toEqual([`${site.url}/account`])
      for (const { child } of [events, server]) child.kill('SIGINT')
      await Promise.all([events.ended, server.ended])
    })
  },
)

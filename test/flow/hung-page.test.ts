/** A page that hangs, with a shorter limit for commands without a timeout of their own. */
import { setTimeout as pause } from 'node:timers/promises'
import { chromium } from 'playwright'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { locateBrowser } from '../../src/engine/browser/install/locate.ts'
import { renewScripts } from '../../src/engine/browser/page/renew-scripts.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { command } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'

vi.mock('../../src/core/limits/limits.ts', async (original) => {
  const { limits, ...rest } = await original<typeof import('../../src/core/limits/limits.ts')>()
  return { ...rest, limits: { ...limits, command: { ...limits.command, evaluateMs: 3000 } } }
})

let homes: Homes
let site: Site
beforeAll(async () => {
  ;[homes, site] = await Promise.all([
    openHomes(),
    serveSite({
      '/': '<!doctype html><title>Home</title><h1>Home</h1>',
      '/busy': '<title>Busy</title><script>onload = () => setTimeout(() => { while (true); }, 50)</script>',
    }),
  ])
})
afterAll(async () => {
  await homes?.close()
  await site?.close()
})

test('commands have 30 seconds by default', async () => {
  const { limits } = await vi.importActual<typeof import('../../src/core/limits/limits.ts')>(
    '../../src/core/limits/limits.ts',
  )
  expect(limits.command.evaluateMs).toBe(30_000)
})

test('a short timeout on a page that hangs ends the batch after that time', async () => {
  const client = homes.clients.http
  const { session_id } = await client.createSession({ headless: true, start_url: `${site.url}/busy` })
  const { results } = await client.runCommands({
    session_id: session_id!,
    continue_on_error: true,
    commands: [command('wait_for_element', { selector: 'h2', timeout_ms: 500 }), command('get_title')],
  })
  expect(results[1]).toMatchObject({
    code: 'timeout',
    error: 'get_title timed out after 3000 ms: the page does not answer',
  })
})

test('elements are found after a termination that hit the script which finds them', async () => {
  const { path } = await locateBrowser({ headless: true, stealth: false }, { cacheDir: '/nonexistent' })
  const browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage()
    const session = await page.context().newCDPSession(page)
    const slowdown = (rate: number) => session.send('Emulation.setCPUThrottlingRate', { rate })
    // The script loads for some hundred milliseconds on a page as slow as this one.
    for (const ms of [10, 50, 100]) {
      await page.goto(site.url)
      await slowdown(40)
      const found = page.locator('h1').count()
      await pause(ms)
      await session.send('Runtime.terminateExecution')
      renewScripts(page)
      await slowdown(1)
      await found
      expect(await page.locator('h1').textContent({ timeout: 30_000 })).toBe('Home')
    }
  } finally {
    await browser.close()
  }
})

/** Replays: one file that explains a session to a reader who has nothing else. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { type Browser, chromium, type Page } from 'playwright'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { locateBrowser } from '../../src/engine/browser/install/locate.ts'
import { buildBax, type BuiltBax, processEnv } from '../support/cli.ts'
import { serveSite, type Site } from '../support/site.ts'

const password = 'c0rrect <horse> & "battery"'

const hostile = `<!doctype html><title>Hostile</title>
<style>@import url("/imported.css"); body { background: url("/background.png") } @font-face { font-family: x; src: url(/font.woff2) }</style>
<h1 onclick="top.pwned = 1">&lt;/script&gt;&lt;script&gt;top.pwned = 2&lt;/script&gt;</h1>
<svg onload="top.pwned = 3"><a xlink:href="javascript:top.pwned = 4"><text y="20">svg</text></a><animate onbegin="top.pwned = 5" attributeName="x" dur="1s"/></svg>
<a id="link" href="javascript:top.pwned = 6">link</a> <img src="/image.png" onerror="top.pwned = 7">
<iframe srcdoc="<script>top.top.pwned = 8</script><b>framed</b>"></iframe>
<form action="javascript:top.pwned = 9"><button formaction="javascript:top.pwned = 10">send</button></form>
<textarea></textarea><meta http-equiv="refresh" content="3600;url=/refreshed"><base href="/based/">
<details ontoggle="top.pwned = 11" open>toggled</details><script>
document.querySelector('textarea').value = '</textarea><img src=x onerror="top.pwned = 12">'
document.body.setAttribute('data-quote', '"><script>top.pwned = 13</scr' + 'ipt>')
console.log('<\\/script><script>top.pwned = 14<\\/script>')
document.title = '</title><script>top.pwned = 15<\\/script>'
document.body.append(document.createComment('--><script>top.pwned = 16<\\/script>'))
delete top.pwned
</script>`

const pages = {
  '/': `<!doctype html><title>Shop</title><link rel="stylesheet" href="/style.css"><h1>Tea</h1>
<label>Password <input type="password" id="password"></label><input id="plain">
<button id="buy" onclick="fetch('/order').then((r) => console.error('order failed with', r.status))">Buy</button>
<p style="margin-top: 2000px"><a id="far" href="/far">Far below</a></p>`,
  '/pay': `<!doctype html><title>Pay</title><input id="card" autocomplete="cc-number"><input id="code" autocomplete="one-time-code">
<input id="shown" autocomplete="current-password"><textarea id="note" name="recovery-passphrase"></textarea><input type="submit" name="reset-password" value="Forgotten?">
<p id="seen"></p><iframe id="login"></iframe><script>login.src = location.href.replace('127.0.0.1', 'localhost').replace('pay', 'login')</script>`,
  '/login':
    '<!doctype html><title>Login</title><label>Name <input></label><label>Password <input type="password"></label>',
  '/far': '<!doctype html><title>Far</title><h1>Another page</h1>',
  '/hostile': hostile,
}

let built: BuiltBax
let site: Site
let browser: Browser
let folder: string
let env: Record<string, string>
beforeAll(async () => {
  built = await buildBax()
  site = await serveSite({
    ...pages,
    '/style.css': (_, response) =>
      void response.setHeader('content-type', 'text/css').end('h1 { color: rgb(1, 2, 3) }'),
  })
  folder = await mkdtemp(join(tmpdir(), 'bax-replay-'))
  env = { ...processEnv, BAX_STATE_DIR: await built.stateDir(), BAX_SESSION: 'shop' }
  const { path } = await locateBrowser({ headless: true, stealth: false }, { cacheDir: '/nonexistent' })
  browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] })
})
afterAll(async () => {
  await browser?.close()
  await site?.close()
  await built?.close()
  await rm(folder, { recursive: true, force: true })
})

const bax = (...argv: string[]) => built.run(argv, { env, cwd: folder })
const create = (path: string, ...flags: string[]) =>
  bax('session', 'create', '--name', 'shop', ...flags, `${site.url}${path}`)
afterEach(() => bax('close', '--all'))

/** Saves the replay and opens it from the file, without a network. */
async function openReplay(): Promise<{ page: Page; html: string; requests: string[] }> {
  expect(await bax('session', 'replay', '-o', 'run.html')).toMatchObject({ code: 0 })
  const path = join(folder, 'run.html')
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  const requests: string[] = []
  page.on('request', (request) => /^https?:/.test(request.url()) && requests.push(request.url()))
  await page.goto(pathToFileURL(path).href)
  await page.waitForSelector('body[data-ready]')
  return { page, html: await readFile(path, 'utf8'), requests }
}

/** Returns the copies of pages in a replay. */
const copiesIn = (html: string): string =>
  gunzipSync(Buffer.from(/id="pages">([^<]*)</.exec(html)![1]!, 'base64')).toString()

describe('a replay', () => {
  test('opens at the failure, with its reason, the page before it, and what led to it', async () => {
    await create('/', '--replay')
    await bax('click', '#buy')
    await bax('observe')
    expect((await bax('click', '#missing', '--timeout-ms', '300')).code).not.toBe(0)
    const { page, requests } = await openReplay()
    const failed = page.locator('.step.current')
    expect(await failed.locator('h2').innerText()).toMatch(/2\. click #missing failed/)
    expect(await failed.locator('.fault').innerText()).toContain('no element matches #missing')
    const frame = page.frameLocator('#screen iframe')
    expect(await frame.locator('h1').evaluate((h1) => getComputedStyle(h1).color)).toBe('rgb(1, 2, 3)')
    await page.keyboard.press('ArrowUp')
    const first = page.locator('.step.current')
    expect(await first.innerText()).toMatch(/404\s+GET http:\S+\/order \(fetch/)
    expect(await first.innerText()).toContain('order failed with 404')
    await first.getByText('Observation that the caller saw').click()
    expect(await first.innerText()).toContain('button "Buy"')
    const outline = frame.locator('#buy').evaluate((button) => getComputedStyle(button).outlineColor)
    expect(await outline).toBe('rgb(232, 89, 12)')
    expect(requests).toEqual([])
    await page.close()
  })

  test('shows the part of the page that was in view, and the page after the command', async () => {
    await create('/', '--replay')
    await bax('scroll-to', '2000')
    await bax('click', '#far')
    const { page } = await openReplay()
    await page.goto(`${page.url()}#s2`)
    const view = page.locator('#screen')
    await expect
      .poll(() => view.locator('iframe').evaluate((frame: HTMLIFrameElement) => frame.contentWindow!.scrollY))
      .toBeGreaterThan(500)
    await page.keyboard.press('ArrowRight')
    expect(await page.frameLocator('#screen iframe').locator('h1').innerText()).toBe('Another page')
    await page.close()
  })

  test('is searched, and limited to failures', async () => {
    await create('/', '--replay')
    await bax('get-title')
    await bax('click', '#buy')
    await bax('click', '#gone', '--timeout-ms', '300')
    const { page } = await openReplay()
    await page.keyboard.press('/')
    await page.keyboard.type('order failed')
    const commands = page.locator('nav li:not([hidden]) b')
    expect(await commands.allInnerTexts()).toEqual(['click'])
    await page.keyboard.press('Escape')
    await page.locator('#search').fill('')
    await page.getByLabel('failed only').check()
    expect(await page.locator('nav li:not([hidden]) .what').allInnerTexts()).toEqual(['click #gone'])
    await page.close()
  })

  test('runs and fetches nothing of a hostile page', async () => {
    await create('/hostile', '--replay')
    await bax('get-title')
    await bax('eval', "top.pwned = undefined; '</script><script>top.pwned = 17</script>'")
    const before = site.requests.length
    const { page, requests } = await openReplay()
    for (const at of ['#s1', '#s2']) {
      await page.goto(`${page.url().replace(/#.*/, '')}${at}`)
      const frame = page.frameLocator('#screen iframe')
      await frame.locator('#link').click()
      await frame.locator('h1').click()
      await frame.locator('button').click()
      await page.keyboard.press('ArrowRight')
      await frame.locator('h1').click()
    }
    for (const frame of page.frames()) expect(await frame.evaluate('self.pwned')).toBeUndefined()
    expect(await page.frameLocator('#screen iframe').locator('textarea').inputValue()).toContain('</textarea><img')
    expect(await page.frameLocator('#screen iframe').frameLocator('iframe').locator('b').innerText()).toBe('framed')
    expect([requests, site.requests.slice(before)]).toEqual([[], []])
    await page.close()
  })

  test('has no password, however it was typed, and no credentials', async () => {
    await create('/', '--replay')
    await bax('fill', '#password', password)
    await bax('fill', '#plain', `copy of ${password}, Bearer abcdefghijklmnop`)
    await bax(
      'eval',
      'console.log(document.querySelector("#password").value); btoa(document.querySelector("#password").value)',
    )
    await bax('fill-form', JSON.stringify({ Password: 'other-password' }))
    await bax('click', '#password')
    await bax('insert-text', 'typed-password')
    await bax('open', `${site.url}/far?token=abcdefgh&q=${encodeURIComponent(password)}`)
    const { page, html } = await openReplay()
    const all = html + copiesIn(html)
    const escaped = password.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;').replaceAll('"', '&quot;')
    for (const spelling of [
      password,
      escaped,
      encodeURIComponent(password),
      btoa(password),
      'other-password',
      'typed-password',
    ])
      expect(all).not.toContain(spelling)
    expect(all).not.toMatch(/abcdefgh/)
    expect(html).toContain('[redacted]')
    await page.close()
  })

  test('has no data of cards, no codes, and no password of a frame of another site', async () => {
    await create('/pay', '--replay')
    expect(await bax('click', 'frame=#login >> [type=password]')).toMatchObject({ code: 0 })
    expect(await bax('insert-text', 'framed-password')).toMatchObject({ code: 0 })
    const typed = { card: '4000 1234 5678 9010', code: '773311', shown: 'shown-password', note: 'twelve words' }
    for (const [id, text] of Object.entries(typed)) await bax('fill', `#${id}`, text)
    await bax('eval', 'seen.textContent = [card, code, shown, note].map(({ value }) => value).join()')
    await bax('get-text', '#seen')
    const { page, html } = await openReplay()
    const all = html + copiesIn(html)
    for (const text of ['framed-password', ...Object.values(typed)]) expect(all).not.toContain(text)
    expect(all).toContain('Forgotten?')
    expect(copiesIn(html)).toContain('********')
    await page.close()
  })

  test('has no value of a stored credential, also where the page shows it later', async () => {
    const flags = ['--origin', site.url, '--username', 'ann']
    const stdin = 'stored-password\n'
    expect(await built.run(['credential', 'add', 'shop', ...flags], { env, cwd: folder, stdin })).toMatchObject({
      code: 0,
    })
    await create('/', '--replay')
    expect(await bax('fill', '--credential', 'shop.password', '#password')).toMatchObject({ code: 0 })
    await bax('eval', 'document.querySelector("h1").textContent = document.querySelector("#password").value; 1')
    await bax('click', '#plain')
    const { page, html } = await openReplay()
    expect(html + copiesIn(html)).not.toContain('stored-password')
    await page.close()
  })

  test('has the beginnings of long results, and no copies of the page for commands that were not run', async () => {
    await create('/', '--replay')
    await bax('eval', "'y'.repeat(100000)")
    await bax('insert-text', 'z'.repeat(50_000))
    const steps = ['click', '#missing', '--timeout-ms', '300', 'then', 'fill', '#password', 'skipped-password']
    expect((await bax('do', ...steps)).code).not.toBe(0)
    const { page, html } = await openReplay()
    const section = (number: number) => page.locator(`#s${number}`)
    expect(await section(1).textContent()).toMatch(/y{1900}.*… \(9[78]\d{3} more characters\)/s)
    expect(await section(2).textContent()).toMatch(/z{1900}.*… \(48\d{3} more characters\)/s)
    expect(await section(3).textContent()).toContain('Page before')
    expect(await section(4).textContent()).not.toContain('Page before')
    expect(html).not.toContain('skipped-password')
    await page.close()
  })

  test('keeps its limit over many large pages, and says what it left out', async () => {
    const noise = (seed: number) =>
      Array.from({ length: 6000 }, (_, at) => Math.sin(seed * 7919 + at).toString(36)).join(' ')
    const body = (seed: number) => `<!doctype html><title>${seed}</title><p>${noise(seed)}</p>`
    const large = await serveSite(Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`/${at}`, body(at)])))
    await create('/', '--replay')
    const steps = Array.from({ length: 100 }, (_, at) => ['then', 'navigate-to', `${large.url}/${at}`]).flat()
    expect(await bax('do', ...steps.slice(1))).toMatchObject({ code: 0 })
    const { page, html } = await openReplay()
    await large.close()
    expect(html.length).toBeLessThan(5_000_000)
    expect(html.length).toBeGreaterThan(3_000_000)
    expect(await page.locator('header').innerText()).toMatch(
      /Left out: \d+ copies of pages, to keep the file below 5 MB/,
    )
    expect(await page.locator('nav li').count()).toBeGreaterThanOrEqual(100)
    await page.close()
  }, 120_000)

  test('of a session that is not recorded fails with the way to record one', async () => {
    await create('/')
    expect(await bax('session', 'replay')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('hint: create it with "bax session create --replay"'),
    })
  })
})

/** Sessions whose replays are saved by the built program, and opened in a browser. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { type Browser, chromium, type Page } from 'playwright'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { locateBrowser } from '../../src/engine/browser/install/locate.ts'
import { buildBax, type BuiltBax, processEnv } from './cli.ts'
import { serveSite, type Site } from './site.ts'

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
  '/table': `<!doctype html><title>Table</title>${Array.from({ length: 9 }, (_, at) => `<p role="status">Column ${at}: sorted</p>`).join('')}<button id="save">Save</button>
<script>save.onclick = () => document.body.insertAdjacentHTML('beforeend', '<div role="alert">The name is taken</div>')</script>`,
  '/far': '<!doctype html><title>Far</title><h1>Another page</h1>',
  '/hostile': hostile,
}

/** Sets up a build, a site and a browser for the tests of a file; each test has a session `shop`. */
export function replays() {
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

  const run = (argv: readonly string[], stdin = '') => built.run(argv, { env, cwd: folder, stdin })
  const bax = (...argv: string[]) => run(argv)
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

  return {
    get site() {
      return site
    },
    /** Runs a command, with its standard input. */
    run,
    bax,
    create,
    openReplay,
  }
}

/** Returns the copies of pages in a replay. */
export const copiesIn = (html: string): string =>
  gunzipSync(Buffer.from(/id="pages">([^<]*)</.exec(html)![1]!, 'base64')).toString()

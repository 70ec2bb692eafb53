/** Common Playwright calls with their results on a local browser. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright'

interface Tools {
  readonly browser: Browser
  readonly context: BrowserContext
  /** A new page, on the page of `site.ts`. */
  readonly page: Page
  /** URL of the site, without a trailing slash. */
  readonly url: string
  /** A folder for files. */
  readonly folder: string
}

export type Kind = 'session' | 'relay'

type Snippet = (tools: Tools) => Promise<unknown>

const result = (page: Page) => page.locator('#result').textContent()
const isPng = (bytes: Buffer) => bytes.subarray(1, 4).toString() === 'PNG'

/** Runs `work` with a context of the client's own, and closes it. */
async function inContext<T>(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0],
  work: (page: Page, context: BrowserContext) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext(options)
  try {
    return await work(await context.newPage(), context)
  } finally {
    await context.close()
  }
}

/** Snippets with their results. */
const snippets: Record<string, [run: Snippet, result: unknown]> = {
  goto: [async ({ page, url }) => [(await page.goto(`${url}/other`))!.status(), await page.title()], [200, 'Other']],
  click: [async ({ page }) => (await page.click('#go'), result(page)), 'clicked'],
  dblclick: [async ({ page }) => (await page.dblclick('#go'), result(page)), 'double'],
  fill: [async ({ page }) => (await page.getByLabel('Name').fill('Ada'), page.inputValue('#name')), 'Ada'],
  pressSequentially: [
    async ({ page }) => (await page.locator('#name').pressSequentially('Ada'), page.inputValue('#name')),
    'Ada',
  ],
  check: [async ({ page }) => (await page.check('#agree'), page.isChecked('#agree')), true],
  selectOption: [async ({ page }) => page.selectOption('#color', 'green'), ['green']],
  hover: [async ({ page }) => (await page.hover('#go'), page.textContent('#hovered')), 'yes'],
  dragTo: [
    async ({ page }) => (await page.locator('#source').dragTo(page.locator('#target')), result(page)),
    'dropped',
  ],
  keyboard: [
    async ({ page }) => {
      await page.focus('#name')
      await page.keyboard.type('Adam')
      await page.keyboard.press('Backspace')
      return page.inputValue('#name')
    },
    'Ada',
  ],
  'mouse wheel': [
    async ({ page }) => {
      await page.mouse.move(200, 300)
      await page.mouse.wheel(0, 400)
      return (await page.waitForFunction('scrollY > 300')).jsonValue()
    },
    true,
  ],
  screenshot: [async ({ page }) => isPng(await page.screenshot({ fullPage: true })), true],
  'screenshot of an element': [async ({ page }) => isPng(await page.locator('#go').screenshot()), true],
  pdf: [async ({ page }) => (await page.pdf()).subarray(0, 5).toString(), '%PDF-'],
  evaluate: [async ({ page }) => page.evaluate(([a, b]) => a! + b!, [20, 22]), 42],
  exposeFunction: [
    async ({ page }) => {
      await page.exposeFunction('double', (n: number) => n * 2)
      return page.evaluate('double(21)')
    },
    42,
  ],
  waitForSelector: [
    async ({ page }) => (await page.click('#later'), (await page.waitForSelector('#late')).textContent()),
    'late',
  ],
  waitForResponse: [
    async ({ page }) => {
      const [response] = await Promise.all([page.waitForResponse('**/api'), page.click('#fetch')])
      return response.json()
    },
    { from: 'server' },
  ],
  'waitForURL and goBack, goForward, reload': [
    async ({ page, url }) => {
      await page.evaluate('location.href = "/other"')
      await page.waitForURL('**/other')
      const titles = [await page.title()]
      await page.goBack()
      titles.push(await page.title())
      await page.goForward()
      titles.push(await page.title())
      await page.reload()
      return [...titles, page.url() === `${url}/other`]
    },
    ['Other', 'Snippets', 'Other', true],
  ],
  'route fulfill': [
    async ({ page }) => {
      await page.route('**/api', (route) => route.fulfill({ json: { from: 'mock' } }))
      await page.click('#fetch')
      await page.locator('#result', { hasText: /./ }).waitFor()
      return result(page)
    },
    'mock',
  ],
  'route abort': [
    async ({ page }) => {
      await page.route('**/api', (route) => route.abort())
      await page.click('#fetch')
      await page.locator('#result', { hasText: /./ }).waitFor()
      return result(page)
    },
    'failed',
  ],
  'route continue, and setExtraHTTPHeaders': [
    async ({ page, url }) => {
      await page.setExtraHTTPHeaders({ 'x-extra': 'page' })
      const plain = await page.evaluate('fetch("/whoami").then((r) => r.json())')
      await page.route('**/whoami', (route) =>
        route.continue({ headers: { ...route.request().headers(), 'x-extra': 'route' } }),
      )
      const changed = JSON.parse((await (await page.goto(`${url}/whoami`))!.text()) as string) as { extra: string }
      return [(plain as { extra: string }).extra, changed.extra]
    },
    ['page', 'route'],
  ],
  addInitScript: [
    async ({ page, url }) => {
      await page.addInitScript('globalThis.early = 42')
      await page.goto(`${url}/other`)
      return page.evaluate('early')
    },
    42,
  ],
  'dialog: accept a confirm': [
    async ({ page }) => {
      page.once('dialog', (dialog) => void dialog.accept())
      await page.click('#ask')
      return result(page)
    },
    'true',
  ],
  'dialog: dismiss a confirm': [
    async ({ page }) => {
      const message = new Promise<string>((resolve) => {
        page.once('dialog', (dialog) => {
          resolve(dialog.message())
          void dialog.dismiss()
        })
      })
      await page.click('#ask')
      return [await message, await result(page)]
    },
    ['sure?', 'false'],
  ],
  'dialog: answer a prompt': [
    async ({ page }) => {
      page.once('dialog', (dialog) => void dialog.accept(`${dialog.defaultValue()} at all`))
      await page.click('#prompt')
      return result(page)
    },
    'none at all',
  ],
  'dialog: without a listener': [async ({ page }) => (await page.click('#alert'), result(page)), 'after'],
  'dialog: beforeunload': [
    async ({ page }) => {
      await page.click('#leave')
      const asked = page.waitForEvent('dialog')
      await page.close({ runBeforeUnload: true })
      const dialog = await asked
      const closed = page.waitForEvent('close')
      await dialog.accept()
      await closed
      return dialog.type()
    },
    'beforeunload',
  ],
  'download: event': [
    async ({ page }) => {
      const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')])
      // A headless browser of the user cancels downloads by default.
      return [download.suggestedFilename(), [null, 'canceled'].includes(await download.failure())]
    },
    ['report.txt', true],
  ],
  'download: from a new tab': [
    async ({ page }) => {
      const [download] = await Promise.all([page.waitForEvent('download'), page.click('#blank')])
      return download.suggestedFilename()
    },
    'report.txt',
  ],
  'upload: by path': [
    async ({ page, folder }) => {
      await writeFile(join(folder, 'notes.txt'), 'some notes')
      await page.setInputFiles('#file', join(folder, 'notes.txt'))
      await page.locator('#result', { hasText: /./ }).waitFor()
      return result(page)
    },
    'notes.txt:some notes',
  ],
  'upload: by content, in a file chooser': [
    async ({ page }) => {
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.click('#file')])
      await chooser.setFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') })
      await page.locator('#result', { hasText: /./ }).waitFor()
      return result(page)
    },
    'a.txt:a',
  ],
  popup: [
    async ({ page }) => {
      const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('#popup')])
      const text = await popup.textContent('p')
      await popup.close()
      return text
    },
    'Other',
  ],
  frames: [
    async ({ page }) => {
      const button = page.frameLocator('[name=inner]').getByRole('button')
      await button.click()
      return [await button.textContent(), page.frames().length]
    },
    ['pressed', 2],
  ],
  cookies: [
    async ({ page, context, url }) => {
      await context.addCookies([{ name: 'kind', value: 'oat', url }])
      const sent = (await page.evaluate('fetch("/whoami").then((r) => r.json())')) as { cookie: string }
      const [cookie] = await context.cookies(url)
      await context.clearCookies({ name: 'kind' })
      return [sent.cookie, cookie!.value, (await context.cookies(url)).length]
    },
    ['kind=oat', 'oat', 0],
  ],
  storageState: [
    async ({ page, context, url }) => {
      await page.evaluate('localStorage.setItem("mode", "dark")')
      const { origins } = await context.storageState()
      return origins.find(({ origin }) => origin === url)?.localStorage
    },
    [{ name: 'mode', value: 'dark' }],
  ],
  setViewportSize: [
    async ({ page }) => {
      await page.setViewportSize({ width: 500, height: 400 })
      return page.evaluate('[innerWidth, innerHeight]')
    },
    [500, 400],
  ],
  emulateMedia: [
    async ({ page }) => {
      await page.emulateMedia({ colorScheme: 'dark', media: 'print' })
      return page.evaluate('[matchMedia("(prefers-color-scheme: dark)").matches, matchMedia("print").matches]')
    },
    [true, true],
  ],
  geolocation: [
    async ({ page, context }) => {
      await context.grantPermissions(['geolocation'])
      await context.setGeolocation({ latitude: 52, longitude: 13 })
      const place = await page.evaluate(
        'new Promise((resolve, reject) => navigator.geolocation.getCurrentPosition((at) => resolve([at.coords.latitude, at.coords.longitude]), (error) => resolve(error.message)))',
      )
      await context.clearPermissions()
      return place
    },
    [52, 13],
  ],
  setOffline: [
    async ({ page, context }) => {
      await context.setOffline(true)
      const text = await page.evaluate('fetch("/api").then(() => "online", () => "offline")')
      await context.setOffline(false)
      return text
    },
    'offline',
  ],
  'newContext: separate cookies': [
    async ({ browser, context, url }) =>
      inContext(browser, {}, async (page, own) => {
        await context.addCookies([{ name: 'default', value: '1', url }])
        await own.addCookies([{ name: 'own', value: '1', url }])
        const names = async (of: BrowserContext) => (await of.cookies(url)).map(({ name }) => name)
        await page.goto(url)
        const seen = [await page.evaluate('document.cookie'), await names(own), await names(context)]
        await context.clearCookies()
        return seen
      }),
    ['own=1', ['own'], ['default']],
  ],
  'newContext: options': [
    async ({ browser, url }) => {
      const storageState = { cookies: [], origins: [{ origin: url, localStorage: [{ name: 'a', value: 'b' }] }] }
      const options = {
        locale: 'de-DE',
        timezoneId: 'Asia/Tokyo',
        viewport: { width: 640, height: 480 },
        userAgent: 'Mine/1.0',
        storageState,
      }
      return inContext(browser, options, async (page) => {
        const { agent } = JSON.parse(await (await page.goto(`${url}/whoami`))!.text()) as { agent: string }
        const facts = await page.evaluate(
          '[navigator.language, new Intl.DateTimeFormat().resolvedOptions().timeZone, innerWidth, navigator.userAgent, localStorage.a]',
        )
        return [agent, ...(facts as unknown[])]
      })
    },
    ['Mine/1.0', 'de-DE', 'Asia/Tokyo', 640, 'Mine/1.0', 'b'],
  ],
  'newContext: credentials, permissions and a HAR': [
    async ({ browser, url, folder }) => {
      const path = join(folder, 'requests.har')
      const httpCredentials = { username: 'ada', password: 'x' }
      const options = { httpCredentials, permissions: ['notifications'], recordHar: { path }, ignoreHTTPSErrors: true }
      const seen = await inContext(browser, options, async (page) => {
        const authorization = await (await page.goto(`${url}/protected`))!.text()
        const query = 'navigator.permissions.query({ name: "notifications" }).then(({ state }) => state)'
        return [authorization, await page.evaluate(query)]
      })
      return [...seen, (await readFile(path, 'utf8')).includes('/protected')]
    },
    [`Basic ${btoa('ada:x')}`, 'granted', true],
  ],
  'newContext: clicks, dialogs, downloads, popups': [
    async ({ browser, url }) =>
      inContext(browser, {}, async (page, context) => {
        await page.goto(url)
        page.once('dialog', (dialog) => void dialog.accept())
        await page.click('#ask')
        const answered = await result(page)
        const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')])
        const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('#popup')])
        await popup.waitForLoadState()
        return [
          answered,
          download.suggestedFilename(),
          await download.failure(),
          await popup.title(),
          context.pages().length,
        ]
      }),
    ['true', 'report.txt', null, 'Other', 2],
  ],
  'newPage of the browser, and close': [
    async ({ browser, url }) => {
      const before = browser.contexts().length
      const page = await browser.newPage()
      await page.goto(`${url}/other`)
      const title = await page.title()
      await page.close()
      return [title, browser.contexts().length - before]
    },
    ['Other', 0],
  ],
  newCDPSession: [
    async ({ page, context }) => {
      const session = await context.newCDPSession(page)
      const { result: answer } = await session.send('Runtime.evaluate', { expression: 'document.title' })
      await session.detach()
      return answer.value
    },
    'Snippets',
  ],
  newBrowserCDPSession: [
    async ({ browser }) => {
      const session = await browser.newBrowserCDPSession()
      const { product } = await session.send('Browser.getVersion')
      await session.detach()
      return product.includes('Chrome/')
    },
    true,
  ],
  'tracing of the context': [
    async ({ page, context, folder }) => {
      await context.tracing.start({ screenshots: true, snapshots: true })
      await page.click('#go')
      await context.tracing.stop({ path: join(folder, 'trace.zip') })
      return (await readFile(join(folder, 'trace.zip'))).subarray(0, 2).toString()
    },
    'PK',
  ],
  'console and pageerror': [
    async ({ page }) => {
      const [message, error] = await Promise.all([
        page.waitForEvent('console'),
        page.waitForEvent('pageerror'),
        page.evaluate('console.warn("careful", 1); setTimeout(() => { throw new Error("oops") })'),
      ])
      return [message.type(), message.text(), error.message]
    },
    ['warning', 'careful 1', 'oops'],
  ],
  ariaSnapshot: [async ({ page }) => page.locator('#go').ariaSnapshot(), '- button "Go"'],
  getByRole: [async ({ page }) => (await page.getByRole('button', { name: 'Go' }).click(), result(page)), 'clicked'],
  setContent: [async ({ page }) => (await page.setContent('<h1>Hi</h1>'), page.textContent('h1')), 'Hi'],
  clock: [
    async ({ page }) => {
      await page.clock.setFixedTime(new Date('2030-01-01T00:00:00Z'))
      return page.evaluate('new Date().getFullYear()')
    },
    2030,
  ],
  coverage: [
    async ({ page }) => {
      await page.coverage.startJSCoverage()
      await page.reload()
      return (await page.coverage.stopJSCoverage()).length > 0
    },
    true,
  ],
}

/** Snippets that are refused, with the message, by the kind of browser. */
const refusals: Record<Kind, Record<string, [run: Snippet, message: string]>> = {
  session: {
    'newContext with a proxy': [
      async ({ browser }) => browser.newContext({ proxy: { server: 'http://127.0.0.1:1' } }),
      'a context uses the proxy of its session: set proxy when you create the session',
    ],
    'startTracing of the browser': [
      async ({ browser }) => browser.startTracing(),
      'Tracing.start reaches beyond this session: start it on the session of a page',
    ],
    'clipboard permission': [
      async ({ context }) => context.grantPermissions(['clipboard-read']),
      'the permission clipboardReadWrite reaches beyond this session',
    ],
    'pasting with the keyboard': [
      async ({ page }) => {
        await page.focus('#name')
        await page.keyboard.press('ControlOrMeta+V')
      },
      'pasting reaches beyond this session: sessions share one browser clipboard; insert the text instead',
    ],
    'close of the browser': [
      async ({ browser }) => (await browser.newBrowserCDPSession()).send('Browser.close'),
      'Browser.close reaches beyond this session: disconnect, and close the session with DELETE /sessions/{id}',
    ],
  },
  relay: {
    'close of the browser': [
      async ({ browser }) => (await browser.newBrowserCDPSession()).send('Browser.close'),
      'the policy no-lifecycle of this browser does not allow Browser.close',
    ],
  },
}

export const playwright = { snippets, refusals }

/** Common Puppeteer calls with their results on a local browser. */

const result = (page) => page.$eval('#result', (output) => output.textContent)
const isPng = (bytes) => Buffer.from(bytes.subarray(1, 4)).toString() === 'PNG'
const whenOut = (page) => page.waitForFunction(() => document.querySelector('#result').textContent !== '')
const once = (emitter, event) => new Promise((resolve) => emitter.once(event, resolve))

/** Runs `work` with a context of the client's own, and closes it. */
async function inContext(browser, options, work) {
  const context = await browser.createBrowserContext(options)
  try {
    return await work(await context.newPage(), context)
  } finally {
    await context.close()
  }
}

/** Waits for a download that a CDP session reports. */
async function downloadOf(session, start) {
  const begun = once(session, 'Browser.downloadWillBegin')
  const ended = new Promise((resolve) => {
    session.on('Browser.downloadProgress', ({ state }) => state !== 'inProgress' && resolve(state))
  })
  await start()
  return [(await begun).suggestedFilename, await ended]
}

/** Snippets with their results. */
const snippets = {
  goto: [async ({ page, url }) => [(await page.goto(`${url}/other`)).status(), await page.title()], [200, 'Other']],
  click: [async ({ page }) => (await page.click('#go'), result(page)), 'clicked'],
  'double click': [async ({ page }) => (await page.click('#go', { count: 2 }), result(page)), 'double'],
  type: [async ({ page }) => (await page.type('#name', 'Ada'), page.$eval('#name', (input) => input.value)), 'Ada'],
  'locator fill': [
    async ({ page }) => (await page.locator('#name').fill('Ada'), page.$eval('#name', (input) => input.value)),
    'Ada',
  ],
  check: [async ({ page }) => (await page.click('#agree'), page.$eval('#agree', (box) => box.checked)), true],
  select: [async ({ page }) => page.select('#color', 'green'), ['green']],
  hover: [async ({ page }) => (await page.hover('#go'), page.$eval('#hovered', (output) => output.textContent)), 'yes'],
  drag: [
    async ({ page }) => {
      const [source, target] = [await page.$('#source'), await page.$('#target')]
      await source.drag(target)
      await target.drop(source)
      return result(page)
    },
    'dropped',
  ],
  keyboard: [
    async ({ page }) => {
      await page.focus('#name')
      await page.keyboard.type('Adam')
      await page.keyboard.press('Backspace')
      return page.$eval('#name', (input) => input.value)
    },
    'Ada',
  ],
  'mouse wheel': [
    async ({ page }) => {
      await page.mouse.move(200, 300)
      await page.mouse.wheel({ deltaY: 400 })
      return (await page.waitForFunction('scrollY > 300')).jsonValue()
    },
    true,
  ],
  screenshot: [async ({ page }) => isPng(await page.screenshot({ fullPage: true })), true],
  'screenshot of an element': [async ({ page }) => isPng(await (await page.$('#go')).screenshot()), true],
  pdf: [async ({ page }) => Buffer.from((await page.pdf()).subarray(0, 5)).toString(), '%PDF-'],
  evaluate: [async ({ page }) => page.evaluate((a, b) => a + b, 20, 22), 42],
  $$eval: [async ({ page }) => page.$$eval('option', (options) => options.map(({ text }) => text)), ['red', 'green']],
  exposeFunction: [
    async ({ page }) => {
      await page.exposeFunction('double', (n) => n * 2)
      return page.evaluate('double(21)')
    },
    42,
  ],
  waitForSelector: [
    async ({ page }) => {
      await page.click('#later')
      return (await page.waitForSelector('#late')).evaluate((late) => late.textContent)
    },
    'late',
  ],
  waitForResponse: [
    async ({ page }) => {
      const [response] = await Promise.all([
        page.waitForResponse((r) => r.url().endsWith('/api')),
        page.click('#fetch'),
      ])
      return response.json()
    },
    { from: 'server' },
  ],
  'waitForNavigation and goBack, goForward, reload': [
    async ({ page, url }) => {
      await Promise.all([page.waitForNavigation(), page.evaluate('location.href = "/other"')])
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
  'request interception: respond, abort, continue': [
    async ({ page, url }) => {
      await page.setRequestInterception(true)
      let turn = 0
      page.on('request', (request) => {
        if (request.url().endsWith('/whoami'))
          return request.continue({ headers: { ...request.headers(), 'x-extra': 'route' } })
        if (!request.url().endsWith('/api')) return request.continue()
        const mock = { contentType: 'application/json', body: '{"from":"mock"}' }
        return turn++ === 0 ? request.respond(mock) : request.abort()
      })
      const seen = []
      for (let at = 0; at < 2; at++) {
        await page.evaluate('out("")')
        await page.click('#fetch')
        await whenOut(page)
        seen.push(await result(page))
      }
      return [...seen, (await (await page.goto(`${url}/whoami`)).json()).extra]
    },
    ['mock', 'failed', 'route'],
  ],
  setExtraHTTPHeaders: [
    async ({ page, url }) => {
      await page.setExtraHTTPHeaders({ 'x-extra': 'page' })
      return (await (await page.goto(`${url}/whoami`)).json()).extra
    },
    'page',
  ],
  authenticate: [
    async ({ page, url }) => {
      await page.authenticate({ username: 'ada', password: 'x' })
      return (await page.goto(`${url}/protected`)).text()
    },
    `Basic ${btoa('ada:x')}`,
  ],
  evaluateOnNewDocument: [
    async ({ page, url }) => {
      await page.evaluateOnNewDocument('globalThis.early = 42')
      await page.goto(`${url}/other`)
      return page.evaluate('early')
    },
    42,
  ],
  'dialog: accept a confirm': [
    async ({ page }) => {
      page.once('dialog', (dialog) => dialog.accept())
      await page.click('#ask')
      return result(page)
    },
    'true',
  ],
  'dialog: dismiss a confirm': [
    async ({ page }) => {
      const asked = once(page, 'dialog').then(async (dialog) => (await dialog.dismiss(), dialog.message()))
      await page.click('#ask')
      return [await asked, await result(page)]
    },
    ['sure?', 'false'],
  ],
  'dialog: answer a prompt': [
    async ({ page }) => {
      page.once('dialog', (dialog) => dialog.accept(`${dialog.defaultValue()} at all`))
      await page.click('#prompt')
      return result(page)
    },
    'none at all',
  ],
  'download: events of the browser': [
    async ({ browser, page }) => {
      const session = await browser.target().createCDPSession()
      await session.send('Browser.setDownloadBehavior', { behavior: 'default', eventsEnabled: true })
      const [name, state] = await downloadOf(session, () => page.click('#download'))
      // A headless browser of the user cancels downloads by default.
      return [name, ['completed', 'canceled'].includes(state)]
    },
    ['report.txt', true],
  ],
  'upload: a file chooser': [
    async ({ page, upload }) => {
      const [chooser] = await Promise.all([page.waitForFileChooser(), page.click('#file')])
      await chooser.accept([upload])
      await whenOut(page)
      return result(page)
    },
    'report.txt:the report',
  ],
  'upload: a file input': [
    async ({ page, upload }) => {
      await (await page.$('#file')).uploadFile(upload)
      await whenOut(page)
      return result(page)
    },
    'report.txt:the report',
  ],
  popup: [
    async ({ page }) => {
      const [popup] = await Promise.all([once(page, 'popup'), page.click('#popup')])
      const text = await (await popup.waitForSelector('p')).evaluate((p) => p.textContent)
      await popup.close()
      return text
    },
    'Other',
  ],
  frames: [
    async ({ page }) => {
      const frame = await (await page.$('iframe')).contentFrame()
      await (await frame.waitForSelector('button')).click()
      return [await frame.$eval('button', (button) => button.textContent), page.frames().length]
    },
    ['pressed', 2],
  ],
  'cookies of the browser': [
    async ({ browser, page, url }) => {
      await browser.setCookie({ name: 'kind', value: 'oat', domain: new URL(url).hostname })
      const sent = await page.evaluate('fetch("/whoami").then((r) => r.json())')
      const cookies = await browser.cookies()
      await browser.deleteCookie(...cookies)
      return [sent.cookie, cookies.map(({ value }) => value), (await browser.cookies()).length]
    },
    ['kind=oat', ['oat'], 0],
  ],
  'cookies of the page': [
    async ({ page }) => {
      await page.setCookie({ name: 'page', value: '1' })
      const [cookie] = await page.cookies()
      await page.deleteCookie({ name: 'page' })
      return [cookie.name, (await page.cookies()).length]
    },
    ['page', 0],
  ],
  setViewport: [
    async ({ page }) => {
      await page.setViewport({ width: 500, height: 400 })
      return page.evaluate('[innerWidth, innerHeight]')
    },
    [500, 400],
  ],
  emulateMediaFeatures: [
    async ({ page }) => {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }])
      return page.evaluate('matchMedia("(prefers-color-scheme: dark)").matches')
    },
    true,
  ],
  setUserAgent: [
    async ({ page, url }) => {
      await page.setUserAgent({ userAgent: 'Mine/1.0' })
      return (await (await page.goto(`${url}/whoami`)).json()).agent
    },
    'Mine/1.0',
  ],
  geolocation: [
    async ({ page, url }) => {
      await page.browserContext().overridePermissions(url, ['geolocation'])
      await page.setGeolocation({ latitude: 52, longitude: 13 })
      const place = await page.evaluate(
        'new Promise((resolve) => navigator.geolocation.getCurrentPosition((at) => resolve([at.coords.latitude, at.coords.longitude]), (error) => resolve(error.message)))',
      )
      await page.browserContext().clearPermissionOverrides()
      return place
    },
    [52, 13],
  ],
  setOfflineMode: [
    async ({ page }) => {
      await page.setOfflineMode(true)
      const text = await page.evaluate('fetch("/api").then(() => "online", () => "offline")')
      await page.setOfflineMode(false)
      return text
    },
    'offline',
  ],
  'createBrowserContext: separate cookies': [
    async ({ browser, url }) =>
      inContext(browser, {}, async (page, context) => {
        await page.goto(url)
        await page.evaluate('document.cookie = "own=1"')
        const names = async (of) => (await of.cookies()).map(({ name }) => name)
        return [await names(context), await names(browser.defaultBrowserContext())]
      }),
    [['own'], []],
  ],
  'createBrowserContext: clicks, dialogs, downloads': [
    async ({ browser, url, folder }) =>
      inContext(browser, {}, async (page, context) => {
        await page.goto(url)
        page.once('dialog', (dialog) => dialog.accept())
        await page.click('#ask')
        const session = await browser.target().createCDPSession()
        const behavior = { behavior: 'allowAndName', downloadPath: folder, eventsEnabled: true }
        await session.send('Browser.setDownloadBehavior', { ...behavior, browserContextId: context.id })
        return [await result(page), await downloadOf(session, () => page.click('#download'))]
      }),
    ['true', ['report.txt', 'completed']],
  ],
  'newPage and close': [
    async ({ browser, url }) => {
      const page = await browser.newPage()
      await page.goto(`${url}/other`)
      const title = await page.title()
      await page.close()
      return [title, page.isClosed()]
    },
    ['Other', true],
  ],
  createCDPSession: [
    async ({ page }) => {
      const session = await page.createCDPSession()
      const answer = await session.send('Runtime.evaluate', { expression: 'document.title' })
      await session.detach()
      return answer.result.value
    },
    'Snippets',
  ],
  'console and pageerror': [
    async ({ page }) => {
      const [message, error] = await Promise.all([
        once(page, 'console'),
        once(page, 'pageerror'),
        page.evaluate('console.warn("careful", 1); setTimeout(() => { throw new Error("oops") })'),
      ])
      return [message.type(), message.text(), error.message]
    },
    ['warn', 'careful 1', 'oops'],
  ],
  'accessibility snapshot': [
    async ({ page }) => {
      const { role, name } = await page.accessibility.snapshot({ root: await page.$('#go') })
      return [role, name]
    },
    ['button', 'Go'],
  ],
  setContent: [
    async ({ page }) => (await page.setContent('<h1>Hi</h1>'), page.$eval('h1', (heading) => heading.textContent)),
    'Hi',
  ],
  metrics: [async ({ page }) => (await page.metrics()).Documents > 0, true],
  coverage: [
    async ({ page }) => {
      await page.coverage.startJSCoverage()
      await page.reload()
      return (await page.coverage.stopJSCoverage()).length > 0
    },
    true,
  ],
  'targets and waitForTarget': [
    async ({ browser, page }) => {
      const [target] = await Promise.all([
        browser.waitForTarget((one) => one.url().endsWith('/other')),
        page.click('#popup'),
      ])
      await (await target.page()).close()
      return target.type()
    },
    'page',
  ],
}

/** Snippets that are refused, with the message, by the kind of browser. */
const refusals = {
  session: {
    'createBrowserContext with a proxy': [
      async ({ browser }) => browser.createBrowserContext({ proxyServer: 'http://127.0.0.1:1' }),
      'a context uses the proxy of its session: set proxy when you create the session',
    ],
    'upload of an unknown file': [
      async ({ page }) => (await page.$('#file')).uploadFile('/etc/passwd'),
      'the session has no file "passwd" to upload: send it to /sessions/{id}/files first',
    ],
    'a download folder': [
      async ({ browser }) =>
        browser.defaultBrowserContext().setDownloadBehavior({ policy: 'allow', downloadPath: '/tmp' }),
      'downloads are stored in the files of the session',
    ],
    'clipboard permission': [
      async ({ page, url }) => page.browserContext().overridePermissions(url, ['clipboard-read']),
      'the permission clipboardReadWrite reaches beyond this session',
    ],
    'close of the browser': [
      async ({ browser }) => (await browser.target().createCDPSession()).send('Browser.close'),
      'Browser.close reaches beyond this session: disconnect, and close the session with DELETE /sessions/{id}',
    ],
  },
  relay: {
    'close of the browser': [
      async ({ browser }) => (await browser.target().createCDPSession()).send('Browser.close'),
      'the policy no-lifecycle of this browser does not allow Browser.close',
    ],
  },
}

export const puppeteer = { snippets, refusals }

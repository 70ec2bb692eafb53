import { chromium } from 'playwright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ForeignBrowser, startForeignBrowser } from '../support/foreign-browser.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { connectCdp } from '../support/cdp-client.ts'
import { connectBrowser } from '../support/relay.ts'
import { loadPuppeteer } from '../support/puppeteer.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site
let foreign: ForeignBrowser
let token: string

beforeAll(async () => {
  ;[homes, site, foreign] = await Promise.all([
    openHomes(),
    serveSite({
      '/shared': '<title>Shared</title>',
      '/private': '<title>Private</title>',
      '/new': '<title>New</title>',
      '/file': (_request, response) => {
        response.setHeader('content-disposition', 'attachment; filename=report.txt').end('the report')
      },
      '/hang': '<title>Hang</title><script>for (;;) {}</script>',
    }),
    startForeignBrowser(),
  ])
  token = (await homes.clients.http.createRelayToken({})).token
  await foreign.evaluate('about:blank', `location.href = ${JSON.stringify(`${site.url}/private`)}`)
  await waitUntil(async () => (await foreign.pages()).includes(`${site.url}/private`))
})
afterAll(async () => {
  await homes.close()
  await foreign.close()
  await site.close()
})

const connect = async (tabs: readonly string[] = []) => {
  const connected = await connectBrowser({ browser: foreign.url, engine: homes.baseUrl, token, tabs })
  const record = () => homes.clients.http.getRelay({ id: connected.id })
  const cdp = (method: string, params = {}, target_id?: string) =>
    homes.clients.http.cdp({
      session_id: connected.id,
      method,
      params,
      ...(target_id && { target_id }),
    })
  return { record, cdp, stop: connected.stop, socket: async () => (await record()).cdp_url! }
}

/** Resolves once the tabs that a test has closed are gone, so that the next one does not find them. */
const isAlone = () => waitUntil(async () => (await foreign.pages()).join() === `${site.url}/private`)

/** Returns the URLs of the pages that each library finds, and the title of one that it opens. */
const clients: Record<string, (socket: string) => Promise<{ pages: string[]; opened: string }>> = {
  Playwright: async (socket) => {
    const browser = await chromium.connectOverCDP(socket)
    const [context] = browser.contexts()
    const pages = context!.pages().map((page) => page.url())
    const page = await context!.newPage()
    await page.goto(`${site.url}/new`)
    const opened = await page.title()
    await page.close()
    await browser.close()
    return { pages, opened }
  },
  Puppeteer: async (socket) => {
    const puppeteer = await loadPuppeteer()
    const browser = await puppeteer.connect({ browserWSEndpoint: socket, defaultViewport: null })
    const pages = (await browser.pages()).map((page) => page.url())
    const page = await browser.newPage()
    await page.goto(`${site.url}/new`)
    const opened = await page.title()
    await page.close()
    await browser.disconnect()
    return { pages, opened }
  },
}

describe.each(Object.keys(clients))('%s', (name) => {
  const visit = clients[name]!
  // It is installed on first use, which can take longer than a test.
  if (name === 'Puppeteer') beforeAll(async () => void (await loadPuppeteer()))

  test('finds only the shared tabs, and opens its own', async () => {
    const all = await connect()
    const made = await all.cdp('Target.createTarget', { url: `${site.url}/shared` })
    await waitUntil(async () => (await foreign.pages()).includes(`${site.url}/shared`))
    await all.stop()
    const some = await connect(['**/shared'])
    await waitUntil(async () => (await some.record()).targets.length === 1)
    expect(await visit(await some.socket())).toEqual({ pages: [`${site.url}/shared`], opened: 'New' })
    await some.cdp('Target.closeTarget', { targetId: made.result!['targetId'] })
    await isAlone()
    await some.stop()
  })

  test('is not blocked by a tab that hangs', async () => {
    const { cdp, record, socket, stop } = await connect()
    const made = await cdp('Target.createTarget', { url: `${site.url}/hang` })
    const hung = made.result!['targetId'] as string
    const hangs = async () =>
      (await record()).targets.some(({ target_id: id, responsive }) => id === hung && !responsive)
    await waitUntil(hangs)
    expect(await visit(await socket())).toEqual({ pages: [`${site.url}/private`], opened: 'New' })
    await cdp('Target.closeTarget', { targetId: hung })
    await isAlone()
    await stop()
  })
})

test('reports only downloads of the shared tabs, and allows contexts of the client', async () => {
  const some = await connect(['**/shared', '**/file'])
  const client = await connectCdp(await some.socket())
  const made = await client.send('Target.createTarget', { url: `${site.url}/shared` })
  const page = await client.attach(made['targetId'] as string)
  await client.send('Page.enable', {}, page)
  await client.send('Browser.setDownloadBehavior', { behavior: 'allowAndName', downloadPath: '/', eventsEnabled: true })
  await foreign.evaluate('/private', 'location.href = "/file?private"')
  await waitUntil(() => site.requests.includes('/file'))
  await client.send('Runtime.evaluate', { expression: 'location.href = "/file?shared"' }, page)
  const { params } = await client.event('Browser.downloadWillBegin')
  await client.event('Browser.downloadProgress', (event) => event.params['guid'] === params['guid'])
  const reported = client.events.filter(({ method }) => method === 'Browser.downloadWillBegin')
  expect(reported.map((event) => event.params['url'])).toEqual([`${site.url}/file?shared`])
  const { browserContextId } = await client.send('Target.createBrowserContext')
  expect(await client.send('Storage.getCookies', { browserContextId })).toEqual({ cookies: [] })
  await expect(client.send('Storage.getCookies')).rejects.toThrow('Storage.getCookies reaches beyond the shared tabs')
  await client.send('Target.disposeBrowserContext', { browserContextId })
  await client.send('Target.closeTarget', { targetId: made['targetId'] })
  await isAlone()
  await client.close()
  await some.stop()
})

/** Contexts that CDP clients create: limited, with the network and user agent of their session, and closed in time. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import type { SessionInput } from '../../src/core/shapes/session.ts'
import { type CdpClient, connectCdp } from '../support/cdp-client.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { loadPuppeteer } from '../support/puppeteer.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site
let proxy: Server
/** Number of pages at `/alive` that are open. */
let alive = 0

beforeAll(async () => {
  ;[homes, site] = await Promise.all([
    openHomes({ writeAnywhere: false, pool: { browsers: 1 }, downloadBytes: 1024 * 1024 }),
    serveSite({
      '/': '<title>Home</title><a href="/file">file</a><a id="large" href="/large">large</a><input type="file">',
      '/alive': '<title>Alive</title><script>fetch("/held")</script>',
      '/held': (_request, response) => {
        alive += 1
        response.write('x')
        response.once('close', () => (alive -= 1))
      },
      '/agent': (request, response) => void response.end(request.headers['user-agent']),
      '/file': (_request, response) => {
        response.setHeader('content-disposition', 'attachment; filename=report.txt').end('the report')
      },
      '/large': (_request, response) => {
        // It stays incomplete, so that the quota ends it.
        response.setHeader('content-disposition', 'attachment; filename=large.bin').write(Buffer.alloc(8 * 1024 * 1024))
      },
    }),
  ])
  proxy = createServer((request, response) => void response.end(`proxied ${request.url}`))
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await homes.close()
  await site.close()
  proxy.close()
})

async function create(input: Partial<SessionInput> = {}, of = homes) {
  const made = await of.clients.http.createSession({ headless: true, ...input })
  return { id: made.session_id!, address: `${made.cdp_url}?token=${made.frame_token}` }
}

async function withBrowser<T>(address: string, work: (browser: Browser) => Promise<T>): Promise<T> {
  const browser = await chromium.connectOverCDP(address)
  try {
    return await work(browser)
  } finally {
    await browser.close()
  }
}

const contextIn = async (client: CdpClient) => {
  const { browserContextId } = await client.send('Target.createBrowserContext')
  return browserContextId as string
}

describe('a context of a client', () => {
  test('is visible to this client only', async () => {
    const { address } = await create()
    const [one, other] = [await connectCdp(address), await connectCdp(address)]
    const browserContextId = await contextIn(one)
    const { targetId } = await one.send('Target.createTarget', { url: 'about:blank', browserContextId })
    expect((await one.send('Target.getBrowserContexts'))['browserContextIds']).toEqual([browserContextId])
    expect((await other.send('Target.getBrowserContexts'))['browserContextIds']).toEqual([])
    await expect(other.send('Target.createTarget', { url: 'about:blank', browserContextId })).rejects.toThrow(/-32003/)
    await expect(other.send('Target.attachToTarget', { targetId, flatten: true })).rejects.toThrow(/-32602/)
    await one.send('Target.disposeBrowserContext', { browserContextId })
    expect((await one.send('Target.getBrowserContexts'))['browserContextIds']).toEqual([])
    await Promise.all([one.close(), other.close()])
  })

  test('counts towards the limit of its session, until its client disconnects', async () => {
    const { address } = await create()
    const { clientContexts: most } = limits.session
    const [one, other] = [await connectCdp(address), await connectCdp(address)]
    await contextIn(one)
    for (let count = 1; count < most; count++) await contextIn(other)
    await expect(contextIn(one)).rejects.toThrow(`the clients of a session may have at most ${most} contexts open`)
    const beside = await connectCdp((await create()).address)
    await contextIn(beside)
    await Promise.all([other.close(), beside.close()])
    await waitUntil(() =>
      contextIn(one).then(
        () => true,
        () => false,
      ),
    )
    await one.close()
  })

  test('is closed with its client, and with its session', async () => {
    const { id, address } = await create()
    const open = async () => {
      const client = await connectCdp(address)
      const browserContextId = await contextIn(client)
      await client.send('Target.createTarget', { url: `${site.url}/alive`, browserContextId })
      await waitUntil(() => alive === 1)
      return client
    }
    const client = await open()
    await client.close()
    await waitUntil(() => alive === 0)
    await open()
    await homes.clients.http.closeSession({ session_id: id })
    await waitUntil(() => alive === 0)
  })

  test('uses the user agent, the proxy and the network rules of its session', async () => {
    const agent = 'Mozilla/5.0 (X11; Linux x86_64) Special/1.0'
    const { address } = await create({ user_agent: agent })
    await withBrowser(address, async (browser) => {
      for (const options of [{}, { locale: 'de-DE' }]) {
        const context = await browser.newContext(options)
        const page = await context.newPage()
        expect(await (await page.goto(`${site.url}/agent`))!.text()).toBe(agent)
        expect(await page.evaluate('navigator.userAgent')).toBe(agent)
        await context.close()
      }
      const own = await browser.newContext({ userAgent: 'Mine/1.0' })
      const page = await own.newPage()
      expect(await (await page.goto(`${site.url}/agent`))!.text()).toBe('Mine/1.0')
      const cdp = await browser.contexts()[0]!.newCDPSession(browser.contexts()[0]!.pages()[0]!)
      await expect(cdp.send('Emulation.setUserAgentOverride', { userAgent: 'Mine/1.0' })).rejects.toThrow(
        'the session has its own user agent: set user_agent when you create the session',
      )
      await expect(page.goto('http://10.0.0.1/')).rejects.toThrow(/URL blocked|ERR_/)
      await expect(page.goto('file:///etc/passwd')).rejects.toThrow('URL blocked')
    })
    const server = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const proxied = await create({ proxy: { server } })
    await withBrowser(proxied.address, async (browser) => {
      const page = await browser.newPage()
      expect(await (await page.goto('http://site.test/'))!.text()).toBe('proxied http://site.test/')
    })
  })

  test('may open as many tabs as a session', async () => {
    const { address } = await create()
    const client = await connectCdp(address)
    const browserContextId = await contextIn(client)
    const pages = async () => {
      const { targetInfos } = await client.send('Target.getTargets')
      return (targetInfos as { browserContextId: string }[]).filter(
        (info) => info.browserContextId === browserContextId,
      ).length
    }
    const more = limits.session.tabs + 5
    for (let count = 0; count < more; count++)
      await client.send('Target.createTarget', { url: 'about:blank', browserContextId })
    await waitUntil(async () => (await pages()) === limits.session.tabs)
    await client.close()
  })

  test('stores its downloads with those of its session, within the same quota', async () => {
    const { id, address } = await create()
    await withBrowser(address, async (browser) => {
      const page = await browser.newPage()
      await page.goto(site.url)
      const [download] = await Promise.all([page.waitForEvent('download'), page.click('a')])
      expect(await download.failure()).toBeNull()
      const [large] = await Promise.all([page.waitForEvent('download'), page.click('#large')])
      expect(await large.failure()).toBe('canceled')
      await browser.contexts()[0]!.pages()[0]!.goto(site.url)
      const { connect } = await loadPuppeteer()
      const other = await connect({ browserWSEndpoint: address, defaultViewport: null })
      const [tab] = await other.pages()
      const input = await tab!.$('input')
      await input!.uploadFile('report.txt')
      expect(await tab!.evaluate('document.querySelector("input").files[0].text()')).toBe('the report')
      await other.disconnect()
    })
    const events = await homes.clients.http.getSession({ session_id: id })
    expect(events.tabs).toBe(1)
  })

  test('does not download when its client denies it', async () => {
    const { address } = await create()
    await withBrowser(address, async (browser) => {
      const page = await browser.newPage({ acceptDownloads: false })
      await page.goto(site.url)
      const [download] = await Promise.all([page.waitForEvent('download'), page.click('a')])
      expect(await download.failure()).not.toBeNull()
    })
  })
})

describe('a client that is trusted with the files of this machine', () => {
  let trusted: Homes
  let folder: string
  beforeAll(async () => {
    ;[trusted, folder] = await Promise.all([openHomes({ home: 'local' }), mkdtemp(join(tmpdir(), 'bax-test-trusted-'))])
  })
  afterAll(async () => {
    await trusted.close()
    await rm(folder, { recursive: true })
  })

  test('saves downloads with Playwright, of the session and of its own contexts', async () => {
    const { address } = await create({}, trusted)
    await withBrowser(address, async (browser) => {
      for (const page of [browser.contexts()[0]!.pages()[0]!, await browser.newPage()]) {
        await page.goto(site.url)
        const [download] = await Promise.all([page.waitForEvent('download'), page.click('a')])
        await download.saveAs(join(folder, 'saved.txt'))
        expect(await readFile(join(folder, 'saved.txt'), 'utf8')).toBe('the report')
        expect(await readFile(await download.path(), 'utf8')).toBe('the report')
      }
    })
  })

  test('saves downloads with Puppeteer under their names, and uploads by path', async () => {
    const { address } = await create({ start_url: site.url }, trusted)
    const { connect } = await loadPuppeteer()
    const downloads = join(folder, 'new')
    const downloadBehavior = { policy: 'allow', downloadPath: downloads }
    const browser = await connect({ browserWSEndpoint: address, defaultViewport: null, downloadBehavior })
    const [page] = await browser.pages()
    await page!.click('a')
    const stored = () => readFile(join(downloads, 'report.txt'), 'utf8').catch(() => '')
    await waitUntil(async () => (await stored()) === 'the report')
    await writeFile(join(folder, 'mine.txt'), 'my text')
    const input = await page!.$('input')
    await input!.uploadFile(join(folder, 'mine.txt'))
    expect(await page!.evaluate('document.querySelector("input").files[0].text()')).toBe('my text')
    await browser.disconnect()
  })

  test('reports a download as canceled when its folder cannot be written', async () => {
    const { address } = await create({ start_url: site.url }, trusted)
    const client = await connectCdp(address)
    const target = ((await client.send('Target.getTargets'))['targetInfos'] as { targetId: string }[])[0]!
    const page = await client.attach(target.targetId)
    const downloadPath = join(folder, 'a-file', 'nowhere')
    await writeFile(join(folder, 'a-file'), '')
    await client.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath, eventsEnabled: true })
    await client.send(
      'Runtime.evaluate',
      { expression: 'document.querySelector("a").click()', userGesture: true },
      page,
    )
    const { params } = await client.event('Browser.downloadProgress', (event) => event.params['state'] !== 'inProgress')
    expect(params['state']).toBe('canceled')
    await client.close()
  })
})

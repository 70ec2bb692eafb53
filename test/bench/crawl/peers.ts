/**
 * The crawlers that bax is compared with, each as its documentation shows it. Time is measured from process start,
 * including the start of the browser, to the last page.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserType, Page } from 'playwright'
import { startBrowser } from '../../../src/engine/browser/pool/launch.ts'
import { type CdpMessage, type Channel, Upstream } from '../../../src/engine/browser/cdp/upstream.ts'
import { pathOf, type SitePlan } from './site.ts'
import type { Tally } from './tally.ts'

export interface PeerFacts {
  /** URL of the site, without a trailing slash. */
  readonly url: string
  readonly plan: SitePlan
  /** Folder with the packages of the peers. */
  readonly folder: string
  /** Path of the browser's executable. */
  readonly browser: string
  readonly concurrency: number
}

type Peer = (facts: PeerFacts, tally: Tally) => Promise<void>

const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
const load = <T>(facts: PeerFacts, name: string): T => createRequire(join(facts.folder, 'package.json'))(name) as T

interface CrawleeContext {
  readonly request: { readonly loadedUrl: string }
  readonly page: Page
  readonly $: (selector: string) => { text(): string }
  enqueueLinks(options: object): Promise<unknown>
}
type Crawler = new (options: object) => { run(urls: string[]): Promise<unknown> }

const crawleePlaywright: Peer = async (facts, tally) => {
  const { PlaywrightCrawler } = load<{ PlaywrightCrawler: Crawler }>(facts, '@crawlee/playwright')
  const crawler = new PlaywrightCrawler({
    ...crawleeOptions(facts),
    launchContext: { launchOptions: { executablePath: facts.browser, args: sandbox } },
    async requestHandler({ request, page, enqueueLinks }: CrawleeContext) {
      tally.page(request.loadedUrl, await page.locator('body').innerText())
      await enqueueLinks({ strategy: 'same-hostname' })
    },
  })
  tally.begin()
  await crawler.run([`${facts.url}/`])
}

const crawleeCheerio: Peer = async (facts, tally) => {
  const { CheerioCrawler } = load<{ CheerioCrawler: Crawler }>(facts, '@crawlee/cheerio')
  const crawler = new CheerioCrawler({
    ...crawleeOptions(facts),
    async requestHandler({ request, $, enqueueLinks }: CrawleeContext) {
      tally.page(request.loadedUrl, $('body').text())
      await enqueueLinks({ strategy: 'same-hostname' })
    },
  })
  tally.begin()
  await crawler.run([`${facts.url}/`])
}

const crawleeOptions = ({ concurrency }: PeerFacts) => ({
  minConcurrency: concurrency,
  maxConcurrency: concurrency,
  requestHandlerTimeoutSecs: 60,
})

/** A loop over known URLs with a new page for each, like in Playwright's documentation, with limited concurrency. */
const playwrightPages: Peer = async (facts, tally) => {
  const { url, plan, concurrency } = facts
  tally.begin()
  const { browser, context } = await launchPlaywright(facts)
  await inLanes(Array.from({ length: concurrency }), addresses(url, plan), tally, async (_, address) => {
    const page = await context.newPage()
    await page.goto(address)
    const text = await page.content()
    await page.close()
    return { url: page.url(), text }
  })
  tally.end()
  await browser.close()
}

/** The same, with reused pages. */
const playwrightLoop: Peer = async (facts, tally) => {
  const { url, plan, concurrency } = facts
  tally.begin()
  const { browser, context } = await launchPlaywright(facts)
  const pages = await Promise.all(Array.from({ length: concurrency }, () => context.newPage()))
  await inLanes(pages, addresses(url, plan), tally, async (page, address) => {
    await page.goto(address)
    return { url: page.url(), text: await page.content() }
  })
  tally.end()
  await browser.close()
}

async function launchPlaywright({ browser: executablePath }: PeerFacts) {
  const { chromium } = createRequire(import.meta.url)('playwright') as { chromium: BrowserType }
  const browser: Browser = await chromium.launch({ executablePath, args: sandbox })
  return { browser, context: await browser.newContext() }
}

/** The maximum that a browser can do: navigate, wait for the load event, read the document. */
const rawCdp: Peer = async ({ url, plan, browser, concurrency }, tally) => {
  tally.begin()
  const process = await startBrowser({ path: browser, shell: true, kind: 'headless' })
  const upstream = new Upstream(process.input, process.output)
  const channel = await upstream.openChannel()
  const loads = new Map<string, () => void>()
  channel.onEvent(({ method, sessionId }: CdpMessage) => {
    if (method === 'Page.loadEventFired') loads.get(sessionId!)?.()
  })
  const tabs = await Promise.all(Array.from({ length: concurrency }, () => rawTab(channel)))
  await inLanes(tabs, addresses(url, plan), tally, async (tab, address) => {
    const loaded = new Promise<void>((resolve) => loads.set(tab, resolve))
    await channel.send('Page.navigate', { url: address }, tab)
    await loaded
    const expression = '({ url: location.href, text: document.documentElement.outerHTML })'
    const { result } = await channel.send('Runtime.evaluate', { expression, returnByValue: true }, tab)
    return (result as { value: { url: string; text: string } }).value
  })
  tally.end()
  await process.end()
}

async function rawTab(channel: Channel): Promise<string> {
  const { targetId } = await channel.send('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = await channel.send('Target.attachToTarget', { targetId, flatten: true })
  await channel.send('Page.enable', {}, sessionId as string)
  return sessionId as string
}

const addresses = (url: string, plan: SitePlan): string[] =>
  Array.from({ length: plan.pages }, (_, at) => `${url}${pathOf(at, plan)}`)

/** Visits the URLs in turn, one per lane at a time. */
async function inLanes<Lane>(
  lanes: readonly Lane[],
  all: readonly string[],
  tally: Tally,
  read: (lane: Lane, address: string) => Promise<{ url: string; text: string }>,
): Promise<void> {
  const left = all.values()
  await Promise.all(
    lanes.map(async (lane) => {
      for (const address of left) {
        const { url, text } = await read(lane, address)
        tally.page(url, text)
      }
    }),
  )
}

export const peers = { crawleePlaywright, crawleeCheerio, playwrightPages, playwrightLoop, rawCdp } satisfies Record<
  string,
  Peer
>

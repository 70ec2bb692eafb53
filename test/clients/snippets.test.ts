/** Common calls of Playwright and Puppeteer give the same results on sessions and relayed browsers as on a local browser. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { retryTransient } from '../../src/core/errors/transient-errors.ts'
import { type ForeignBrowser, startForeignBrowser } from '../support/foreign-browser.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { loadPuppeteer, type PuppeteerPage } from '../support/puppeteer.ts'
import { connectBrowser, type ConnectedBrowser } from '../support/relay.ts'
import type { Site } from '../support/site.ts'
import { type Kind, playwright } from './snippets/playwright.ts'
import { puppeteer } from './snippets/puppeteer.mjs'
import { serveSnippets } from './snippets/site.ts'

let homes: Homes
let site: Site
let foreign: ForeignBrowser
let connected: ConnectedBrowser
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-test-snippets-'))
  await writeFile(join(folder, 'report.txt'), 'the report')
  // Like a server, which does not trust its clients with its files.
  ;[homes, site, foreign] = await Promise.all([
    openHomes({ writeAnywhere: false }),
    serveSnippets(),
    startForeignBrowser(),
  ])
  const { token } = await homes.clients.http.createRelayToken({})
  connected = await connectBrowser({ browser: foreign.url, engine: homes.baseUrl, token })
})
afterAll(async () => {
  await connected.stop()
  await Promise.all([homes.close(), foreign.close(), site.close()])
  await rm(folder, { recursive: true })
})

/** Returns the endpoint, and the name of a file to upload with the text "the report". */
const kinds: Record<Kind, () => Promise<{ address: string; upload: string }>> = {
  session: async () => {
    const { cdp_url, frame_token } = await homes.clients.http.createSession({ headless: true })
    return { address: `${cdp_url}?token=${frame_token}`, upload: 'report.txt' }
  },
  relay: async () => {
    const { cdp_url } = await homes.clients.http.getRelay({ id: connected.id })
    return { address: cdp_url!, upload: join(folder, 'report.txt') }
  },
}

interface Tools {
  readonly page: { goto(url: string): Promise<unknown>; close(): Promise<void> }
}

interface Library {
  readonly connect: (address: string) => Promise<{ open: () => Promise<Tools>; close: () => Promise<void> }>
  readonly snippets: Record<string, [run: (tools: never) => Promise<unknown>, result: unknown]>
  readonly refusals: Record<Kind, Record<string, [run: (tools: never) => Promise<unknown>, message: string]>>
}

const libraries: Record<string, Library> = {
  Playwright: {
    ...playwright,
    connect: async (address) => {
      const browser = await chromium.connectOverCDP(address)
      const context = browser.contexts()[0]!
      return { open: async () => ({ browser, context, page: await context.newPage() }), close: () => browser.close() }
    },
  },
  Puppeteer: {
    ...(puppeteer as unknown as Omit<Library, 'connect'>),
    connect: async (address) => {
      const { connect } = await loadPuppeteer()
      const browser = await connect({ browserWSEndpoint: address, defaultViewport: null })
      const open = async (): Promise<{ browser: unknown; page: PuppeteerPage }> => ({
        browser,
        page: await browser.newPage(),
      })
      return { open, close: () => browser.disconnect() }
    },
  },
}

describe.each(Object.keys(libraries))('%s', (name) => {
  const { connect, snippets, refusals } = libraries[name]!

  describe.each(Object.keys(kinds) as Kind[])('on a %s', (kind) => {
    let client: Awaited<ReturnType<Library['connect']>>
    let upload: string
    beforeAll(async () => {
      const { address, upload: file } = await kinds[kind]()
      upload = file
      client = await connect(address)
    })
    afterAll(() => client.close())

    const run = async (snippet: (tools: never) => Promise<unknown>) => {
      const tools = await client.open()
      try {
        await retryTransient(() => tools.page.goto(site.url))
        return await snippet({ ...tools, url: site.url, upload, folder } as never)
      } finally {
        await tools.page.close()
      }
    }

    test.each(Object.keys(snippets))('%s', async (title) => {
      const [snippet, result] = snippets[title]!
      expect(await run(snippet)).toEqual(result)
    })

    test.each(Object.keys(refusals[kind]))('is refused: %s', async (title) => {
      const [snippet, message] = refusals[kind][title]!
      await expect(run(snippet)).rejects.toThrow(message)
    })
  })
})

/** Batches, extractions and webhooks of a fleet whose workers are killed: nothing is missing, and nothing runs twice. */
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { limits } from '../../../src/core/limits/limits.ts'
import type { CrawlState } from '../../../src/core/shapes/crawl.ts'
import { renderedAtOnce } from '../../../src/engine/render/browser/concurrency.ts'
import {
  endedCrawl,
  type GatewayProcess,
  type ProcessFleet,
  startProcessFleet,
  type WorkerProcess,
} from '../../support/fleet-processes.ts'
import { type GatedSite, serveTree } from '../../support/gated-site.ts'
import { titled } from '../../support/needs.ts'
import { noRedis } from '../../support/redis.ts'
import { servedWithinMs } from '../../support/served.ts'
import { serveSite, type Site } from '../../support/site.ts'
import { waitUntil } from '../../support/wait.ts'
import { expectDelivered, receiveWebhooks, type WebhookReceiver } from '../../support/webhooks.ts'

/** Pages that a worker visits at the same time. */
const slots = 4
const pages = 40
/** Pages that a worker renders at the same time. */
const tabs = Math.min(slots, renderedAtOnce)
/** A port that no page may use. */
const blocked = 'http://127.0.0.1:1/'

describe.skipIf(noRedis)(titled('jobs of a fleet whose workers are killed', noRedis), () => {
  let fleet: ProcessFleet
  let site: GatedSite
  let receiver: WebhookReceiver
  let gateway: GatewayProcess
  /** The only worker when a test starts. */
  let worker: WorkerProcess
  let urls: string[]

  beforeAll(async () => {
    ;[fleet, site, receiver] = await Promise.all([startProcessFleet(), serveTree(pages), receiveWebhooks()])
    ;[gateway, worker] = await Promise.all([fleet.addGateway(), fleet.addWorker()])
    urls = Array.from({ length: pages }, (_, at) => `${site.url}/p/${at}`)
  }, servedWithinMs)
  afterAll(async () => {
    await fleet?.close()
    await Promise.all([site?.close(), receiver?.close()])
  })
  beforeEach(() => receiver.clear())

  /** Pages are held back for as long as workers take to start. */
  const timeout = limits.scrape.maxTimeoutMs

  /** Starts a job, and kills a worker that visits its pages, then the one that coordinates it. */
  const killDuring = async (start: () => Promise<{ id: string }>): Promise<string> => {
    site.hold()
    const { id } = await start()
    await site.waiting(slots)
    const other = await fleet.addWorker()
    await site.waiting(2 * slots)
    await other.kill()
    await site.waiting(slots)
    const next = await fleet.addWorker()
    await site.waiting(2 * slots)
    site.release()
    await site.requested(slots, { hold: true })
    await site.waiting(2 * slots)
    await worker.kill()
    await site.waiting(slots)
    site.release()
    worker = next
    return id
  }

  const sourcesOf = ({ data }: Pick<CrawlState, 'data'>) => data.map(({ metadata }) => metadata.sourceURL)

  test('a batch: every page is there once, in the order of the list, and others are errors', async () => {
    const { client } = gateway
    const listed = [...urls.slice(0, 5), blocked, ...urls.slice(5)]
    const id = await killDuring(() => client.batchScrapeV2({ urls: listed, timeout, webhook: receiver.webhook }))
    await waitUntil(async () => (await client.getBatchV2({ id, limit: 0 })).status !== 'scraping')
    const state = await client.getBatchV2({ id, limit: 500 })
    expect(state).toMatchObject({ status: 'completed', completed: pages, total: pages + 1 })
    expect(state.data.map(({ metadata }) => metadata.sourceURL)).toEqual(urls)
    const { errors } = await client.getBatchErrorsV2({ id })
    expect(errors).toEqual([expect.objectContaining({ url: blocked, code: 'url_blocked' })])
    await fleet.expectQueuesEmpty()
    expectDelivered(receiver, { name: 'batch_scrape', urls: listed, repeated: [] })
  })

  test('an extraction: its data are those of an undisturbed one', async () => {
    const { client } = gateway
    const input = {
      urls,
      schema: { type: 'object', properties: { title: { type: 'string' } } },
      scrapeOptions: { timeout },
    }
    const ended = async (id: string) => {
      await waitUntil(async () => (await client.getExtractV2({ id })).status !== 'processing')
      const { id: _id, expiresAt: _at, ...rest } = await client.getExtractV2({ id })
      return rest
    }
    const undisturbed = await ended((await client.extractV2(input)).id)
    const id = await killDuring(() => client.extractV2({ ...input, webhook: receiver.webhook }))
    expect(await ended(id)).toEqual(undisturbed)
    expect(undisturbed).toMatchObject({ status: 'completed', sources: { title: urls } })
    await fleet.expectQueuesEmpty()
    expectDelivered(receiver, { name: 'extract', urls, repeated: [] })
  })

  test('webhooks of a crawl: the event that was being sent is sent again, also the last one', async () => {
    const { client } = gateway
    const input = { url: urls[0]!, limit: pages, max_depth: 20, async: true, webhook: receiver.webhook }
    receiver.hold('crawl.page', 5)
    const { id } = (await client.crawl(input)) as { id: string }
    const repeated: string[] = []
    for (const type of ['crawl.completed', undefined]) {
      repeated.push((await receiver.held()).event)
      const next = await fleet.addWorker()
      await worker.kill()
      worker = next
      receiver.release()
      if (type) receiver.hold(type)
    }
    const whole = await endedCrawl(gateway, id)
    expect(whole).toMatchObject({ status: 'completed', completed: pages, errors: [] })
    expect(sourcesOf(whole).toSorted()).toEqual(urls.toSorted())
    await fleet.expectQueuesEmpty()
    expectDelivered(receiver, { name: 'crawl', urls: sourcesOf(whole), repeated })
  })

  describe('a batch with actions', () => {
    let shop: Site
    const orders: string[] = []
    const held: ServerResponse[] = []
    const paths = Array.from({ length: 3 * tabs }, (_, at) => `/item/${at}`)

    beforeAll(async () => {
      const page = `<!doctype html><title>Item</title><h1>An item</h1><script>
        const order = () => fetch('/order' + location.pathname, { method: 'POST' }).then(() => document.body.append(
          Object.assign(document.createElement('p'), { id: 'ordered', textContent: 'It is ordered.' })))</script>`
      shop = await serveSite({
        ...Object.fromEntries(paths.map((path) => [path, page])),
        ...Object.fromEntries(
          paths.map((path) => [
            `/order${path}`,
            (_, response) => {
              orders.push(path)
              if (orders.length > 2 * tabs) response.end()
              else held.push(response)
            },
          ]),
        ),
      })
    })
    afterAll(() => shop.close())

    test('runs them once: pages of the lost worker are errors', async () => {
      const { client } = gateway
      const next = await fleet.addWorker()
      const { id } = await client.batchScrape({
        urls: paths.map((path) => shop.url + path),
        actions: [
          { type: 'execute', script: 'void order()' },
          { type: 'wait', selector: '#ordered' },
        ],
        webhook: receiver.webhook,
      })
      // Both workers use all their tabs.
      await waitUntil(() => orders.length === 2 * tabs)
      await worker.kill()
      worker = next
      for (const response of held) response.end()
      const state = await endedCrawl(gateway, id)
      expect(orders.toSorted()).toEqual(paths.toSorted())
      const { errors } = await client.getBatchErrors({ id })
      const failed = errors.map(({ url }) => url)
      expect(failed).toHaveLength(tabs)
      expect([...sourcesOf(state), ...failed].toSorted()).toEqual(paths.map((path) => shop.url + path).toSorted())
      for (const error of errors) expect(error).toMatchObject({ code: 'worker_lost' })
      await fleet.expectQueuesEmpty()
      expectDelivered(receiver, { name: 'batch_scrape', urls: paths.map((path) => shop.url + path), repeated: [] })
    })
  })
})

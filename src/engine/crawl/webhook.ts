/**
 * Sends the events of a crawl to the server of its caller, one after the other, and repeats failed requests. The position
 * is stored, so that a resumed crawl continues after the last event that was sent.
 */
import type { Log } from '../../core/config/config.ts'
import { asBaxError } from '../../core/errors/errors.ts'
import { uuidOf } from '../../core/ids.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Frame } from '../../core/operation/call.ts'
import type { CrawlEventData } from '../../core/shapes/crawl.ts'
import { documentOf } from '../../core/shapes/jobs/document-v2.ts'
import { type Webhook, type WebhookEvent, webhookOf } from '../../core/shapes/jobs/webhook.ts'
import type { RequestRules } from '../egress/egress.ts'
import { postWebhook } from '../post-webhook.ts'
import { crawlFrames, type FollowedCrawl } from './feed.ts'
import type { CrawlAnswers } from './store/crawl-answers.ts'
import type { CrawlLogs } from './store/log.ts'
import type { CrawlRecord } from './store/record.ts'

export interface WebhookFacts {
  readonly record: CrawlRecord
  readonly logs: CrawlLogs
  readonly live: FollowedCrawl
  readonly answers: CrawlAnswers
  readonly egress: RequestRules
  /** Key of the signature, unless the request has one. */
  readonly secret: string | undefined
  /** Adds a warning to the crawl. */
  readonly warn: (message: string) => void
  readonly log: Log
}

/** An event as it is sent, without the fields that all have. */
interface Delivery {
  readonly event: WebhookEvent
  readonly success: boolean
  readonly data: readonly unknown[]
  readonly error?: string
}

/** Key of the stored position. */
const sentKey = 'webhook'

const sentTypes = ['crawl.started', 'crawl.page', 'crawl.error', 'crawl.finished'] as const

export class WebhookSender {
  readonly #facts: WebhookFacts
  readonly #webhook: Webhook
  readonly #control = new AbortController()
  readonly #done: Promise<boolean>

  private constructor(facts: WebhookFacts, webhook: Webhook) {
    this.#facts = facts
    this.#webhook = webhook
    this.#done = this.#send().then(
      () => !this.#control.signal.aborted,
      (error: unknown) => {
        if (this.#control.signal.aborted) return false
        this.#report(asBaxError(error).message)
        return true
      },
    )
  }

  /** Starts sending the events of a crawl; returns undefined for a crawl without webhook. */
  static start(facts: WebhookFacts): WebhookSender | undefined {
    const { webhook } = facts.record.input
    return webhook === undefined ? undefined : new WebhookSender(facts, webhookOf(webhook))
  }

  /** Stops sending; the rest is sent when the crawl is resumed. */
  stop(): void {
    this.#control.abort()
  }

  /** Resolves once everything is sent, or was tried often enough; with false if it was stopped before. */
  finish(): Promise<boolean> {
    return this.#done
  }

  async #send(): Promise<void> {
    const { logs, live, answers } = this.#facts
    const { signal } = this.#control
    const since = (answers.site(sentKey) as number | undefined) ?? 0
    let failures = 0
    for await (const frame of crawlFrames(logs, live, { since, types: sentTypes, bytes: live.bytes(), signal })) {
      const delivery = this.#deliveryOf(frame)
      if (delivery && this.#webhook.events.includes(delivery.event)) {
        const failure = await this.#deliver(frame.seq, delivery)
        failures = failure === undefined ? 0 : failures + 1
        if (failure !== undefined) this.#report(failure)
        if (failures >= limits.webhook.failures) return this.#report('further events are not sent')
      }
      answers.keepSite(sentKey, frame.seq)
    }
  }

  #deliveryOf(frame: Frame): Delivery | undefined {
    const { type, data } = frame as Frame & { data: unknown }
    const { v2 } = this.#facts.record.input
    if (type === 'crawl.started') return { event: 'started', success: true, data: [] }
    if (type === 'crawl.page') {
      const { page } = data as CrawlEventData['crawl.page']
      return { event: 'page', success: true, data: [v2 ? documentOf(page) : page] }
    }
    if (type === 'crawl.error') {
      const { error, url } = data as CrawlEventData['crawl.error']
      return { event: 'page', success: false, data: [{ metadata: { sourceURL: url, error } }], error }
    }
    const { status, error } = data as CrawlEventData['crawl.finished']
    if (status === 'completed') return { event: 'completed', success: true, data: [] }
    return { event: 'failed', success: false, data: [], error: error ?? `the crawl was ${status}` }
  }

  /** Sends an event; returns the reason if all tries fail. @throws the reason of the signal */
  async #deliver(seq: number, { event, success, data, error }: Delivery): Promise<string | undefined> {
    const { record, secret, egress } = this.#facts
    const { url, headers, metadata, secret: own } = this.#webhook
    const id = record.input.v2 ? uuidOf(record.id) : record.id
    const type = `${typeNames[record.input.list?.kind ?? 'crawl']}.${event}`
    const body = { success, type, id, data, metadata, ...(error !== undefined && { error }) }
    const request = { url, headers, event: `${record.id}-${seq}`, body, key: own ?? secret }
    return postWebhook(request, egress, this.#control.signal)
  }

  #report(reason: string): void {
    const { record, warn, log } = this.#facts
    log('warn', 'a webhook failed', { crawl: record.id, error: reason })
    warn(`webhook: ${reason}`)
  }
}

/** Names of the jobs in the types of events, as in Firecrawl. */
const typeNames = { crawl: 'crawl', batch: 'batch_scrape', extract: 'extract' } as const

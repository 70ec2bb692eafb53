/** What can be asked about one crawl, by its id. */
import { call } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import type { CrawlAccounts, CrawlState } from '../../core/shapes/crawl.ts'
import type { Manifest } from '../../operations/manifest.ts'
import { operationNamed } from '../context.ts'

export class CrawlCalls {
  readonly #transport: Transport
  readonly #manifest: Manifest
  readonly id: string

  constructor(transport: Transport, manifest: Manifest, id: string) {
    this.#transport = transport
    this.#manifest = manifest
    this.id = id
  }

  /** Where it stands, with so many of its pages. */
  async state(skip: number, limit: number, signal?: AbortSignal): Promise<CrawlState> {
    return (await this.#call('getCrawl', { skip, limit }, signal)) as CrawlState
  }

  async accounts(signal?: AbortSignal): Promise<CrawlAccounts> {
    return (await this.#call('getCrawlErrors', {}, signal)) as CrawlAccounts
  }

  async cancel(signal?: AbortSignal): Promise<unknown> {
    return this.#call('cancelCrawl', {}, signal)
  }

  async resume(signal?: AbortSignal): Promise<unknown> {
    return this.#call('resumeCrawl', {}, signal)
  }

  #call(name: string, input: Record<string, unknown>, signal?: AbortSignal): Promise<unknown> {
    const { http } = operationNamed(this.#manifest, name)
    return call(this.#transport, http, { id: this.id, ...input }, { strict: true, ...(signal && { signal }) })
  }
}

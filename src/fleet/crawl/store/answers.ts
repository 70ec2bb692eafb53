/** Responses that a crawl of a fleet stores: the results of visits, robots.txt and sitemaps. */
import type { Redis } from 'ioredis'
import type { Log } from '../../../core/config/config.ts'
import type { CrawlAnswers } from '../../../engine/crawl/store/crawl-answers.ts'
import { siteKey, visitsKey } from '../keys.ts'
import { fieldsOf, visitField } from '../pages/visit-job.ts'

interface AnswersFacts {
  readonly redis: Redis
  readonly id: string
  readonly log: Log
}

export class FleetAnswers implements CrawlAnswers {
  readonly #facts: AnswersFacts
  readonly #site: ReadonlyMap<string, unknown>
  /** Fields of visits that an earlier coordinator has requested, and this one has not taken over. */
  readonly earlier: Set<string>

  private constructor(facts: AnswersFacts, site: ReadonlyMap<string, unknown>, earlier: Set<string>) {
    this.#facts = facts
    this.#site = site
    this.earlier = earlier
  }

  static async load(facts: AnswersFacts): Promise<FleetAnswers> {
    const { redis, id } = facts
    const [site, fields] = await Promise.all([redis.hgetall(siteKey(id)), redis.hkeys(visitsKey(id))])
    const values = Object.entries(site).map(([key, text]) => [key, JSON.parse(text) as unknown] as const)
    return new FleetAnswers(facts, new Map(values), new Set(fields))
  }

  has(url: string): boolean {
    return this.earlier.has(visitField('visit', url))
  }

  site(key: string): unknown {
    return this.#site.get(key)
  }

  keepSite(key: string, value: unknown): void {
    const { redis, id } = this.#facts
    this.#send(redis.hset(siteKey(id), key, JSON.stringify(value)))
  }

  discard(url: string): void {
    const { redis, id } = this.#facts
    const fields = fieldsOf(url)
    for (const field of fields) this.earlier.delete(field)
    this.#send(redis.hdel(visitsKey(id), ...fields))
  }

  /** The end of the run discards everything in Redis. */
  close(): void {}

  /** Failures only cost a repeated request later, or memory until the end of the crawl. */
  #send(command: Promise<unknown>): void {
    const { id, log } = this.#facts
    command.catch((error: Error) =>
      log('warn', 'what a crawl keeps was not updated', { crawl: id, error: error.message }),
    )
  }
}

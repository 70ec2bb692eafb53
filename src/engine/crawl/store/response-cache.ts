/**
 * Stores responses on disk as soon as they arrive, so that a crawl whose process is killed repeats no request. Pages are
 * visited ahead of time; their responses are kept until the page is finished. Responses about the site itself
 * (robots.txt, sitemaps) are kept as long as the crawl can be resumed.
 */
import { closeSync, openSync, readdirSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { ResponseHeaders } from '../../egress/response-headers.ts'
import type { FetchedPage } from '../../render/http/fetch.ts'
import type { RenderedPage } from '../../render/browser/renderer.ts'
import type { VisitResponses } from '../../scrape/loaded-page.ts'
import type { CrawlAnswers } from './crawl-answers.ts'
import { type Entry, readSegment, Segment } from './response-segment.ts'

/** Errors that a retry would not fix. */
const permanent: ReadonlySet<string> = new Set(['unsupported_content_type', 'content_too_large', 'too_many_redirects'])

const siteName = 'site.kept'
const segmentPattern = /^ahead-\d+\.kept$/

export class ResponseCache implements CrawlAnswers {
  readonly #facts: { readonly folder: string; readonly log: Log }
  /** Entries of an earlier process, by visit and key. */
  readonly #earlier = new Map<string, Map<string, Entry>>()
  /** Segments with their unfinished visits. */
  readonly #segments = new Map<Segment, Set<string>>()
  #current: Segment | undefined
  #site: Segment | undefined
  #number = 0
  #failed = false

  constructor(facts: { readonly folder: string; readonly log: Log }) {
    this.#facts = facts
  }

  /** Loads the entries of an earlier process. */
  load(): void {
    const names = readdirSync(this.#facts.folder)
    for (const name of names.filter((one) => segmentPattern.test(one))) {
      this.#number = Math.max(this.#number, Number.parseInt(name.slice('ahead-'.length), 10))
      const segment = new Segment(join(this.#facts.folder, name))
      this.#segments.set(segment, this.#load(segment))
    }
    if (names.includes(siteName)) this.#load(new Segment(join(this.#facts.folder, siteName)))
  }

  #load({ path }: Segment): Set<string> {
    const visits = new Set<string>()
    for (const entry of readSegment(path)) {
      visits.add(entry.visit)
      const entries = this.#earlier.get(entry.visit) ?? new Map<string, Entry>()
      this.#earlier.set(entry.visit, entries.set(entry.key, entry))
    }
    return visits
  }

  /** Returns whether an earlier process has fetched the page at this URL. */
  has(visit: string): boolean {
    return this.#earlier.has(visit)
  }

  /** Returns the responses for the visit of one URL. */
  of(visit: string): VisitResponses {
    return {
      fetched: (url, ask) => this.#once(visit, `GET ${url}`, ask, fetchedCodec),
      rendered: (ask) =>
        this.#once(visit, 'render', ask, {
          pack: ({ headers, ...page }) => [{ headers: headers.pairs() }, Buffer.from(JSON.stringify(page))],
          unpack: (facts, bytes) => ({ ...(JSON.parse(bytes.toString()) as RenderedPage), headers: headersOf(facts) }),
        }),
    }
  }

  /** Returns a stored value about the site itself, undefined if there is none. */
  site(key: string): unknown {
    const entry = this.#earlier.get('')?.get(key)
    const bytes = entry && bodyOf(entry)
    return bytes && (JSON.parse(bytes.toString()) as unknown)
  }

  keepSite(key: string, value: unknown): void {
    this.#write(() => {
      this.#site ??= Segment.open(join(this.#facts.folder, siteName))
      this.#site.append({ visit: '', key, facts: {} }, Buffer.from(JSON.stringify(value)))
    })
  }

  /** Discards the responses of a finished page. */
  discard(visit: string): void {
    this.#earlier.delete(visit)
    for (const [segment, visits] of this.#segments) {
      if (!visits.delete(visit) || visits.size > 0) continue
      if (segment === this.#current) segment.clear()
      else this.#drop(segment)
    }
  }

  /** Closes the files, and removes them if the crawl has finished. */
  close(finished: boolean): void {
    this.#current?.close()
    this.#site?.close()
    if (!finished) return
    for (const segment of this.#segments.keys()) this.#drop(segment)
    rmSync(join(this.#facts.folder, siteName), { force: true })
  }

  async #once<Answer extends { readonly status: number; readonly isCut?: true }>(
    visit: string,
    key: string,
    ask: () => Promise<Answer>,
    codec: Codec<Answer>,
  ): Promise<Answer> {
    const kept = this.#earlier.get(visit)?.get(key)
    const bytes = kept && bodyOf(kept)
    if (kept && bytes) {
      if ('error' in kept.facts) throw BaxError.fromBody(kept.facts['error'])
      return codec.unpack(kept.facts, bytes)
    }
    try {
      const answer = await ask()
      if (answer.status !== 429 && answer.status < 500 && !answer.isCut) this.#keep(visit, key, ...codec.pack(answer))
      return answer
    } catch (error) {
      if (error instanceof BaxError && permanent.has(error.code))
        this.#keep(visit, key, { error: error.toBody() }, Buffer.alloc(0))
      throw error
    }
  }

  #keep(visit: string, key: string, facts: Entry['facts'], bytes: Uint8Array): void {
    this.#write(() => {
      if (!this.#current || this.#current.bytes > limits.crawl.keptSegmentBytes) {
        this.#current?.close()
        this.#current = Segment.open(join(this.#facts.folder, `ahead-${++this.#number}.kept`))
        this.#segments.set(this.#current, new Set())
      }
      this.#current.append({ visit, key, facts }, bytes)
      this.#segments.get(this.#current)!.add(visit)
    })
  }

  #drop(segment: Segment): void {
    rmSync(segment.path, { force: true })
    this.#segments.delete(segment)
  }

  /** Ignores write errors: a full disk causes a repeated request after a crash, but no lost page. */
  #write(work: () => void): void {
    try {
      work()
    } catch (error) {
      if (!this.#failed)
        this.#facts.log('warn', 'responses of a crawl are not stored', { error: (error as Error).message })
      this.#failed = true
    }
  }
}

interface Codec<Answer> {
  pack(answer: Answer): [facts: Entry['facts'], bytes: Uint8Array]
  unpack(facts: Entry['facts'], bytes: Buffer): Answer
}

/** Converts a fetched page to plain data and back. */
export const fetchedCodec: Codec<FetchedPage> = {
  pack: ({ headers, bytes, ...facts }) => [{ ...facts, headers: headers.pairs() }, bytes],
  unpack: (facts, bytes) => ({
    ...(facts as Omit<FetchedPage, 'headers' | 'bytes'>),
    headers: headersOf(facts),
    bytes,
  }),
}

const headersOf = (facts: Entry['facts']) => new ResponseHeaders(facts['headers'] as [string, string][])

/** Reads a stored body; undefined if it is damaged, so that it is requested again. */
function bodyOf({ path, at, length, isComplete }: Entry): Buffer | undefined {
  const bytes = Buffer.allocUnsafeSlow(length)
  const file = openSync(path, 'r')
  try {
    return readSync(file, bytes, 0, length, at) === length && isComplete(bytes) ? bytes : undefined
  } finally {
    closeSync(file)
  }
}

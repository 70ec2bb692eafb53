/**
 * What the network has answered, on disk from the moment it came: a crawl whose process is killed asks for nothing
 * twice. Pages are visited ahead of the one that is next in the order; their answers are kept until they are settled.
 * What was asked about the site itself (robots.txt, sitemaps) is kept as long as the crawl may be resumed.
 */
import { closeSync, openSync, readdirSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { AnswerHeaders } from '../../render/http/response-headers.ts'
import type { FetchedPage } from '../../render/http/fetch.ts'
import type { RenderedPage } from '../../render/browser/renderer.ts'
import type { VisitAnswers } from '../../scrape/visit-answers.ts'
import { type Entry, readSegment, Segment } from './response-segment.ts'

/** Failures that the next try would meet again. */
const lasting: ReadonlySet<string> = new Set(['unsupported_content_type', 'content_too_large', 'too_many_redirects'])

const siteName = 'site.kept'
const segmentPattern = /^ahead-\d+\.kept$/

interface KeptFacts {
  readonly folder: string
  readonly log: Log
}

export class KeptAnswers {
  readonly #facts: KeptFacts
  /** Read from an earlier process, by visit and key. */
  readonly #earlier = new Map<string, Map<string, Entry>>()
  /** Segments with the visits that are not settled. */
  readonly #segments = new Map<Segment, Set<string>>()
  #current: Segment | undefined
  #site: Segment | undefined
  #number = 0
  #failed = false

  constructor(facts: KeptFacts) {
    this.#facts = facts
  }

  /** Takes up what an earlier process has kept. */
  load(): void {
    const names = readdirSync(this.#facts.folder)
    for (const name of names.filter((one) => segmentPattern.test(one))) {
      this.#number = Math.max(this.#number, Number.parseInt(name.slice('ahead-'.length), 10))
      const segment = new Segment(join(this.#facts.folder, name))
      this.#segments.set(segment, this.#take(segment))
    }
    if (names.includes(siteName)) this.#take(new Segment(join(this.#facts.folder, siteName)))
  }

  #take({ path }: Segment): Set<string> {
    const visits = new Set<string>()
    for (const entry of readSegment(path)) {
      visits.add(entry.visit)
      const known = this.#earlier.get(entry.visit) ?? new Map<string, Entry>()
      this.#earlier.set(entry.visit, known.set(entry.key, entry))
    }
    return visits
  }

  /** Whether an earlier process has fetched the page of this address. */
  has(visit: string): boolean {
    return this.#earlier.has(visit)
  }

  /** The answers to the visit of one address. */
  of(visit: string): VisitAnswers {
    return {
      fetched: (url, ask) =>
        this.#once(visit, `GET ${url}`, ask, {
          pack: ({ headers, bytes, ...facts }) => [{ ...facts, headers: headers.pairs() }, bytes],
          unpack: (facts, bytes) => ({ ...(facts as unknown as FetchedPage), headers: headersOf(facts), bytes }),
          isLasting: ({ status }) => status !== 429 && status < 500,
        }),
      rendered: (ask) =>
        this.#once(visit, 'render', ask, {
          pack: ({ headers, ...page }) => [{ headers: headers.pairs() }, Buffer.from(JSON.stringify(page))],
          unpack: (facts, bytes) => ({ ...(JSON.parse(bytes.toString()) as RenderedPage), headers: headersOf(facts) }),
          isLasting: ({ status }) => status !== 429 && status < 500,
        }),
    }
  }

  /** Something about the site itself, as JSON; undefined when it was not kept. */
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

  /** Discards the answers to a visit whose page has been written. */
  settled(visit: string): void {
    this.#earlier.delete(visit)
    for (const [segment, visits] of this.#segments) {
      if (!visits.delete(visit) || visits.size > 0) continue
      if (segment === this.#current) segment.clear()
      else this.#drop(segment)
    }
  }

  /** Closes the files; `finished` removes them too. */
  close(finished: boolean): void {
    this.#current?.close()
    this.#site?.close()
    if (!finished) return
    for (const segment of this.#segments.keys()) this.#drop(segment)
    rmSync(join(this.#facts.folder, siteName), { force: true })
  }

  async #once<Answer>(visit: string, key: string, ask: () => Promise<Answer>, form: Form<Answer>): Promise<Answer> {
    const kept = this.#earlier.get(visit)?.get(key)
    const bytes = kept && bodyOf(kept)
    if (kept && bytes) {
      if ('error' in kept.facts) throw BaxError.fromBody(kept.facts['error'])
      return form.unpack(kept.facts, bytes)
    }
    try {
      const answer = await ask()
      if (form.isLasting(answer)) this.#keep(visit, key, ...form.pack(answer))
      return answer
    } catch (error) {
      if (error instanceof BaxError && lasting.has(error.code))
        this.#keep(visit, key, { error: error.toBody() }, Buffer.alloc(0))
      throw error
    }
  }

  #keep(visit: string, key: string, facts: Entry['facts'], bytes: Uint8Array): void {
    this.#write(() => {
      if (!this.#current || this.#current.bytes > limits.crawl.keptSegmentBytes) this.#next()
      this.#current!.append({ visit, key, facts }, bytes)
      this.#segments.get(this.#current!)!.add(visit)
    })
  }

  #next(): void {
    this.#current?.close()
    this.#current = Segment.open(join(this.#facts.folder, `ahead-${++this.#number}.kept`))
    this.#segments.set(this.#current, new Set())
  }

  #drop(segment: Segment): void {
    rmSync(segment.path, { force: true })
    this.#segments.delete(segment)
  }

  /** A full disk costs a second request after a crash, never the page. */
  #write(work: () => void): void {
    try {
      work()
    } catch (error) {
      if (!this.#failed) this.#facts.log('warn', 'answers of a crawl are not kept', { error: (error as Error).message })
      this.#failed = true
    }
  }
}

interface Form<Answer> {
  pack(answer: Answer): [facts: Entry['facts'], bytes: Uint8Array]
  unpack(facts: Entry['facts'], bytes: Buffer): Answer
  /** Whether asking again would give the same. */
  isLasting(answer: Answer): boolean
}

const headersOf = (facts: Entry['facts']) => new AnswerHeaders(facts['headers'] as [string, string][])

/** Undefined for what was damaged: it is asked for again. */
function bodyOf({ path, at, length, isWhole }: Entry): Buffer | undefined {
  const bytes = Buffer.allocUnsafeSlow(length)
  const file = openSync(path, 'r')
  try {
    return readSync(file, bytes, 0, length, at) === length && isWhole(bytes) ? bytes : undefined
  } finally {
    closeSync(file)
  }
}

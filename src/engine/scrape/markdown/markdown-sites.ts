/** Facts about the Markdown of sites, kept while an engine runs. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { RequestRules } from '../../egress/egress.ts'
import { evictOldest } from '../../evict-oldest.ts'
import { decodeText } from '../../render/http/charset.ts'
import { kindOf, kindOfHeaders } from '../../render/http/content-kind.ts'
import { fetchPage } from '../../render/http/fetch.ts'
import type { LlmsEntry } from '../../../core/shapes/jobs/sources.ts'
import { llmsEntries } from './llms-file.ts'
import type { RefusingHosts } from './markdown-first.ts'
import { markdownUrls } from './markdown-urls.ts'

interface FetchContext {
  readonly egress: RequestRules
  readonly signal: AbortSignal
}

/** Hosts, and files, that are remembered. */
const maxSites = 1000

/** Values that are forgotten after some time. */
class Remembered<Value> {
  readonly #entries = new Map<string, { readonly until: number; readonly value: Value }>()

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    return entry && entry.until >= performance.now() ? entry.value : undefined
  }

  set(key: string, value: Value): void {
    evictOldest(this.#entries, maxSites)
    this.#entries.delete(key)
    this.#entries.set(key, { until: performance.now() + limits.scrape.llmsKeptMs, value })
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }
}

export class MarkdownSites {
  readonly #refusing = new Remembered<true>()
  readonly #listed = new Remembered<Promise<ReadonlySet<string> | undefined>>()

  /** Returns the hosts that do not answer requests for Markdown under these rules. */
  refusing(egress: RequestRules): RefusingHosts {
    return {
      has: (host) => this.#refusing.get(keyOf(egress, host)) !== undefined,
      add: (host) => this.#refusing.set(keyOf(egress, host), true),
    }
  }

  /** Returns the Markdown of a page that the llms.txt of its site lists. Rejects only with the reason of the signal. */
  async find(page: string, context: FetchContext): Promise<string | undefined> {
    const { origin } = new URL(page)
    const key = keyOf(context.egress, origin)
    for (;;) {
      let loading = this.#listed.get(key)
      if (!loading) this.#listed.set(key, (loading = this.#load(origin, context)))
      const urls = await loading
      // The caller that had started to load the file was aborted.
      if (!urls && this.#listed.get(key) === loading) this.#listed.delete(key)
      context.signal.throwIfAborted()
      if (urls) return markdownUrls(page).find((url) => urls.has(url))
    }
  }

  /** Returns the listed URLs; undefined if the signal is aborted. */
  async #load(origin: string, context: FetchContext): Promise<ReadonlySet<string> | undefined> {
    try {
      const { entries = [] } = (await readLlmsFile(`${origin}/llms.txt`, context)) ?? {}
      return new Set(entries.map(({ url }) => url))
    } catch (error) {
      if (context.signal.aborted) return undefined
      // Without the file, the page is read.
      if (error instanceof BaxError) return new Set()
      throw error
    }
  }
}

/** Returns the key of a fact about a site: callers may have different rules. */
const keyOf = ({ from, allowed }: RequestRules, site: string): string => JSON.stringify([from, allowed?.texts, site])

export interface LlmsFile {
  readonly entries: readonly LlmsEntry[]
  /** Whether only a part of the file was read. */
  readonly isCut: boolean
}

/** Returns the entries of one llms.txt; undefined if there is no such file. @throws BaxError, or the signal's reason */
export async function readLlmsFile(url: string, { egress, signal }: FetchContext): Promise<LlmsFile | undefined> {
  const late = AbortSignal.timeout(limits.scrape.llmsMs)
  try {
    const {
      status,
      headers,
      bytes,
      isCut: isDamaged,
      url: final,
    } = await fetchPage(url, { egress, signal: AbortSignal.any([signal, late]), checkHeaders: kindOfHeaders })
    if (status >= 500) throw new BaxError('server_error', `it responded with ${status}`)
    if (status >= 400) return undefined
    const kind = kindOf(headers, final, bytes)
    // Applications answer every URL with their start page.
    if (kind !== 'text' && kind !== 'markdown') return undefined
    const isCut = isDamaged ?? bytes.length > limits.scrape.llmsBytes
    // Only whole lines: a part of a character would change how the rest is decoded.
    const lines = isCut ? bytes.subarray(0, bytes.lastIndexOf(10, limits.scrape.llmsBytes) + 1) : bytes
    const { text } = await decodeText(lines, headers.get('content-type'), { declares: false })
    return { entries: await llmsEntries(text, final), isCut }
  } catch (error) {
    signal.throwIfAborted()
    if (late.aborted) throw new BaxError('timeout', 'it does not respond', { cause: error })
    throw error
  }
}

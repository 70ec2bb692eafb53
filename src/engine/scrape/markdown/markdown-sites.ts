/** Facts about the Markdown of sites, kept while an engine runs. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { RequestRules } from '../../egress/egress.ts'
import { evictOldest } from '../../evict-oldest.ts'
import { decodeText } from '../../render/http/charset.ts'
import { kindOf } from '../../render/http/content-kind.ts'
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

export class MarkdownSites {
  readonly #refusing = new Set<string>()
  readonly #listed = new Map<string, { readonly until: number; readonly urls: Promise<ReadonlySet<string>> }>()

  /** Hosts that do not answer requests for Markdown. */
  readonly refusing: RefusingHosts = {
    has: (host) => this.#refusing.has(host),
    add: (host) => {
      evictOldest(this.#refusing, maxSites)
      this.#refusing.add(host)
    },
  }

  /** Returns the Markdown of a page that the llms.txt of its site lists. Rejects only with the reason of the signal. */
  async find(page: string, context: FetchContext): Promise<string | undefined> {
    const { origin } = new URL(page)
    // Callers may have different rules.
    const key = `${String(context.egress.from)} ${origin}`
    let known = this.#listed.get(key)
    if (!known || known.until < performance.now()) {
      evictOldest(this.#listed, maxSites)
      known = { until: performance.now() + limits.scrape.llmsKeptMs, urls: this.#load(origin, context) }
      this.#listed.set(key, known)
    }
    const urls = await known.urls
    // A request that was aborted has read nothing.
    if (context.signal.aborted) this.#listed.delete(key)
    context.signal.throwIfAborted()
    return markdownUrls(page).find((url) => urls.has(url))
  }

  async #load(origin: string, context: FetchContext): Promise<ReadonlySet<string>> {
    try {
      return new Set((await readLlmsFile(`${origin}/llms.txt`, context))?.map(({ url }) => url))
    } catch (error) {
      // Without the file, the page is read.
      if (error instanceof BaxError || context.signal.aborted) return new Set()
      throw error
    }
  }
}

/** Returns the entries of one llms.txt; undefined if there is no such file. @throws BaxError, or the signal's reason */
export async function readLlmsFile(url: string, { egress, signal }: FetchContext): Promise<LlmsEntry[] | undefined> {
  const late = AbortSignal.timeout(limits.scrape.llmsMs)
  try {
    const {
      status,
      headers,
      bytes,
      url: final,
    } = await fetchPage(url, { egress, signal: AbortSignal.any([signal, late]) })
    if (status >= 500) throw new BaxError('server_error', `it responded with ${status}`)
    if (status >= 400) return undefined
    const kind = kindOf(headers, final, bytes)
    // Applications answer every URL with their start page.
    if (kind !== 'text' && kind !== 'markdown') return undefined
    const { text } = await decodeText(bytes.subarray(0, limits.scrape.llmsBytes), headers.get('content-type'), {
      declares: false,
    })
    return llmsEntries(text, final)
  } catch (error) {
    signal.throwIfAborted()
    if (late.aborted) throw new BaxError('timeout', 'it does not respond', { cause: error })
    throw error
  }
}

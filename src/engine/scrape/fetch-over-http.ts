/** Fetches pages over HTTP, with the redirects that they contain and the frames that belong to their text. */
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { type ContentKind, isText, kindOf, kindOfHeaders } from '../render/http/content-kind.ts'
import { cutWarning } from '../render/http/decompress.ts'
import { checkRedirects, fetchPage, type FetchedPage, type Redirect } from '../render/http/fetch.ts'
import { headerRefresh, isEmptyStatus, leadsToFile, metaRefresh } from '../render/http/web-url.ts'
import type { Tree } from '../extract/tree.ts'
import type { PageDocument } from './documents/document.ts'
import { readDocument } from './documents/read.ts'
import { withLazyDocument } from './lazy-document.ts'
import type { LoadContext } from './load-page.ts'
import { factsOf } from './loaded-page.ts'
import type { Fetched } from './markdown/markdown-first.ts'
import { framesWarning, holdsFrames, isLarge } from './reading.ts'

interface FetchContext extends Pick<LoadContext, 'egress' | 'signal' | 'read' | 'answers'> {
  /** Whether to ask for Markdown. */
  readonly markdown?: boolean
}

/**
 * Fetches a page over HTTP, and follows redirects, including those of `Refresh` and `<meta http-equiv="refresh">`, unless
 * they lead to a file, as pages do whose download begins by itself.
 */
export async function fetchOverHttp(startUrl: string, context: FetchContext): Promise<Fetched> {
  const { egress, signal, read, answers, markdown } = context
  let url = startUrl
  let redirects: readonly Redirect[] = []
  let last: Arrived | undefined
  for (;;) {
    const options = { egress, signal, checkHeaders: kindOfHeaders, redirects, markdown }
    const requested = url
    const request = () => fetchPage(requested, options)
    const step = async (): Promise<Arrived> => {
      const fetched = await (answers ? answers.fetched(requested, request) : request())
      return { fetched, kind: kindOf(fetched.headers, fetched.url, fetched.bytes) }
    }
    const arrived = await step().catch((error: unknown) => {
      if (last && isUnsupported(error)) return last
      throw error
    })
    const stays = last !== undefined && (arrived === last || isEmptyStatus(arrived.fetched.status))
    const { fetched, kind } = stays && last ? last : arrived
    const own = factsOf(fetched)
    const facts = arrived === last ? { ...own, warnings: [...own.warnings, leadsToFile(url)] } : own
    let next = stays ? undefined : headerRefresh(fetched.headers, fetched.url)?.url
    const unread =
      isText(kind) && next === undefined ? { ...facts, kind, source: { bytes: fetched.bytes }, stays } : undefined
    const reading = unread && (await read?.(unread))
    if (reading && 'page' in reading) {
      return { page: await withLazyDocument(unread, reading.page), kind, isHtml: kind === 'html' }
    }
    next ??= reading?.next
    if (next === undefined) {
      const { document } = await readDocument(fetched, { signal, from: egress.from ?? null })
      next = kind === 'html' && !stays ? metaRefresh(document.tree, fetched.url) : undefined
      if (next === undefined) return withContent(facts, { kind, document }, context)
    }
    redirects = [...fetched.redirects, { url: fetched.url, status: fetched.status }]
    checkRedirects(redirects)
    last = { fetched, kind }
    url = next
  }
}

interface Arrived {
  readonly fetched: FetchedPage
  readonly kind: ContentKind
}

const isUnsupported = (error: unknown): boolean =>
  error instanceof BaxError && error.code === 'unsupported_content_type'

interface Content {
  readonly kind: ContentKind
  readonly document: PageDocument
}

/** Returns a fetched page with its document and the content of frames. */
async function withContent(
  facts: ReturnType<typeof factsOf>,
  { kind, document }: Content,
  context: FrameContext,
): Promise<Fetched> {
  const isHtml = kind === 'html'
  const framed = isHtml ? await withFrames(document, facts.url, context) : []
  const warnings = [...facts.warnings, ...(document.warning ? [document.warning] : []), ...framed]
  return { page: { ...facts, document, warnings }, kind, isHtml }
}

type FrameContext = Pick<LoadContext, 'egress' | 'signal' | 'answers'>

/** Inserts the content of frames into a page; returns warnings about frames that were not read. */
export async function withFrames(
  { tree, raw = '' }: PageDocument,
  url: string,
  context: FrameContext,
): Promise<string[]> {
  if (!holdsFrames(raw)) return []
  if (isLarge(raw)) return [framesWarning]
  const { fillFrames } = await import('./content/frames.ts')
  return fillFrames(tree, url, (frameUrl) => frameAt(frameUrl, url, context))
}

/** Fetches the document of a frame; returns undefined for content other than HTML, and for other origins. */
async function frameAt(frameUrl: string, url: string, context: FrameContext): Promise<Tree | undefined> {
  const { egress, signal: caller, answers } = context
  const late = AbortSignal.timeout(limits.scrape.frameMs)
  try {
    const signal = AbortSignal.any([caller, late])
    const request = () => fetchPage(frameUrl, { egress, signal, checkHeaders: kindOfHeaders })
    const fetched = await (answers ? answers.fetched(frameUrl, request) : request())
    if (new URL(fetched.url).origin !== new URL(url).origin || fetched.status >= 400) return undefined
    if (fetched.isCut) throw new BaxError('connection_failed', cutWarning)
    if (isLarge(fetched.bytes)) throw new BaxError('content_too_large', 'it is too large')
    const { kind, document } = await readDocument(fetched, { signal, from: egress.from ?? null })
    return kind === 'html' ? document.tree : undefined
  } catch (error) {
    if (late.aborted && !caller.aborted) throw new BaxError('connection_failed', 'it did not load in time')
    // Images, videos and blocked URLs in frames are not part of the page's text.
    if (error instanceof BaxError && /^(?:unsupported_content_type|url_blocked)$/.test(error.code)) return undefined
    throw error
  }
}

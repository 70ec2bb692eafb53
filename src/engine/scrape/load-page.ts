/** Gets the page: by HTTP where that is all there is to it, else from a browser. */
import { BaxError } from '../../core/errors/errors.ts'
import type { WarningCode } from '../../core/shapes/scrape.ts'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import type { Egress } from '../egress/egress.ts'
import type { AnswerHeaders } from '../render/http/response-headers.ts'
import { isText, kindOf, kindOfHeaders } from '../render/http/content-kind.ts'
import { needsBrowser, type Reason } from '../render/decide/decide.ts'
import { checkRedirects, fetchPage, type FetchedPage, type Redirect } from '../render/http/fetch.ts'
import type { HostMemory } from '../render/decide/host-memory.ts'
import { metaRefresh } from '../render/http/meta-refresh.ts'
import type { Tree } from '../extract/tree.ts'
import type { RenderedPage, Renderer } from '../render/browser/renderer.ts'
import { httpUserAgent } from '../render/http/user-agent.ts'
import brandingScript from './formats/branding.page.ts?inline'
import type { PageDocument } from './documents/document.ts'
import { htmlDocument, readDocument } from './documents/read.ts'
import { textDocument } from './documents/text.ts'
import { framesLeft, holdsFrames } from './content/framed.ts'
import { hasText } from './content/content.ts'
import type { ScrapePlan } from './plan.ts'
import type { VisitAnswers } from './visit-answers.ts'
import { isLarge, isReadableTree, type PageReading, type Reading, type UnreadPage } from './reading.ts'

/** What a browser gives beside the page. */
type Extras = Pick<RenderedPage, 'isPage' | 'screenshot' | 'reading' | 'actions'>

/** A page with the answer that it came in. */
export interface ObtainedPage {
  readonly document: PageDocument
  readonly url: string
  readonly status: number
  readonly headers: AnswerHeaders
  readonly redirects: readonly Redirect[]
  readonly render: 'http' | 'browser'
  /** What only a browser gives. */
  readonly rendered?: Extras
  readonly warnings: readonly string[]
  readonly warningCode?: WarningCode
  /** What a thread has made of it; its document is made only when somebody looks at it. */
  readonly reading?: PageReading
}

export interface Means {
  readonly memory: HostMemory
  readonly egress: Egress
  /** The renderer, loaded when it is first needed. */
  readonly renderer: () => Promise<Renderer>
  readonly signal: AbortSignal
  /** `performance.now()` at which the time is up. */
  readonly deadline: number
  /** Reads a page elsewhere; undefined for a page that is to be read here. */
  readonly read?: (page: UnreadPage) => Promise<Reading> | undefined
  /** Answers of the network that are kept; without it every page is asked for. */
  readonly answers?: VisitAnswers | undefined
}

export async function obtain(plan: ScrapePlan, means: Means): Promise<ObtainedPage> {
  const { render } = plan.input
  if (render === 'http') return (await overHttp(plan.url, means)).page
  if (render === 'browser' || plan.browserOnly || means.memory.wantsBrowser(plan.url)) return inBrowser(plan, means)
  const { page, isHtml } = await overHttp(plan.url, means)
  const reason = isHtml ? reasonOf(page) : undefined
  if (reason === undefined || means.memory.isVain(page.url, reason)) {
    if (isHtml) means.memory.complete(page.url)
    return page
  }
  return rendering(plan, means, page, reason)
}

/** Why the page should be rendered, by its markup. */
export const reasonOf = ({ reading, document }: ObtainedPage): Reason | undefined =>
  reading ? reading.reason : needsBrowser(document.tree.root)

/** Whether there is something to read in a page as it was sent. */
export const isReadable = ({ reading, document }: ObtainedPage): boolean =>
  reading?.isReadable ?? isReadableTree(document.tree)

/** The page as it was sent, where it is to be had in no better way. */
export const withoutBrowser = (page: ObtainedPage): ObtainedPage =>
  warnedOf(page, 'the page may be incomplete: it wants a browser, and none was found')

/** The page as it was fetched, because it could not be rendered; undefined when it has no text. */
export const unrendered = (page: ObtainedPage, { message }: { readonly message: string }): ObtainedPage | undefined =>
  hasText(page.document.tree)
    ? warnedOf(page, `the page may be incomplete: it could not be rendered (${message})`, 'render_failed')
    : undefined

function warnedOf(page: ObtainedPage, warning: string, code?: WarningCode): ObtainedPage {
  const { reading, warnings } = page
  const coded = code && { warningCode: code }
  const answer = reading?.answer
  const warned = answer && {
    ...answer,
    warning: [answer.warning, warning].filter(Boolean).join('; '),
    ...(code && { warning_code: code }),
  }
  return {
    ...page,
    warnings: [...warnings, warning],
    ...coded,
    ...(warned && { reading: { ...reading, answer: warned } }),
  }
}

async function rendering(plan: ScrapePlan, means: Means, page: ObtainedPage, reason: Reason): Promise<ObtainedPage> {
  try {
    const rendered = await withReserve(means, (inner) => inBrowser(plan, inner))
    // What is too large to be read here is not compared here either.
    if (!page.reading && !rendered.reading)
      means.memory.rendered(page.url, reason, page.document.tree.root, rendered.document.tree.root)
    return rendered
  } catch (error) {
    means.signal.throwIfAborted()
    if (!(error instanceof BaxError)) throw error
    // The page as it was sent is better than nothing, where it has something to read.
    const kept = isLackOfBrowser(error) ? isReadable(page) && withoutBrowser(page) : unrendered(page, error)
    if (!kept) throw error
    return kept
  }
}

/** Whether no page can be rendered here. */
export const isLackOfBrowser = ({ code }: BaxError): boolean => code === 'browser_not_found'

/** Ends the work while there is still time for what is done instead. */
async function withReserve<T>(means: Means, work: (means: Means) => Promise<T>): Promise<T> {
  const left = means.deadline - performance.now()
  const reserve = Math.min(limits.scrape.fallbackMs, left / 4)
  const ms = left - reserve
  const { signal, deadline } = means
  const limit = { ms, error: `rendering took longer than ${Math.round(ms)} ms`, signal, cooperative: true }
  return withDeadline((inner) => work({ ...means, signal: inner, deadline: deadline - reserve }), limit)
}

/** The page as it is sent. */
export async function overHttp(
  address: string,
  { egress, signal, read, answers }: Pick<Means, 'egress' | 'signal' | 'read' | 'answers'>,
): Promise<{ page: ObtainedPage; isHtml: boolean }> {
  let url = address
  let redirects: readonly Redirect[] = []
  for (;;) {
    const options = { userAgent: httpUserAgent, egress, signal, admit: kindOfHeaders, redirects }
    const asked = url
    const ask = () => fetchPage(asked, options)
    const fetched = await (answers ? answers.fetched(asked, ask) : ask())
    const { bytes } = fetched
    const told = kindOf(fetched.headers, fetched.url, bytes)
    const unread = isText(told) ? { ...factsOf(fetched), kind: told, source: { bytes } } : undefined
    const reading = unread && (await read?.(unread))
    if (reading && 'page' in reading) {
      const text = () => new TextDecoder(reading.page.charset).decode(bytes)
      return { page: readElsewhere(unread, reading.page, text), isHtml: told === 'html' }
    }
    let next = reading?.next
    if (next === undefined) {
      const { kind, document } = await readDocument(fetched, signal)
      next = kind === 'html' ? metaRefresh(document.tree, fetched.url) : undefined
      if (next === undefined) {
        const framed = kind === 'html' ? await withFrames(document, fetched.url, { egress, signal, answers }) : []
        const page = asObtained(fetched, document)
        return { page: { ...page, warnings: [...page.warnings, ...framed] }, isHtml: kind === 'html' }
      }
    }
    redirects = [...fetched.redirects, { url: fetched.url, status: fetched.status }]
    checkRedirects(redirects)
    url = next
  }
}

/** A page of a browser as a thread has read it; undefined for one that is to be read here. */
export async function readAway(
  unread: UnreadPage,
  read: Means['read'],
  text: () => string,
): Promise<ObtainedPage | undefined> {
  const reading = await read?.(unread)
  return reading && 'page' in reading ? readElsewhere(unread, reading.page, text) : undefined
}

/** The page with a document that is made when it is looked at: few are. */
function readElsewhere(unread: UnreadPage, reading: PageReading, text: () => string): ObtainedPage {
  const { source: _source, kind, ...page } = unread
  const { charset } = reading
  const isPage = kind === 'html'
  let made: PageDocument | undefined
  const make = () =>
    (made ??= isPage ? htmlDocument(text(), charset, page.url) : textDocument({ text: text(), charset, url: page.url }))
  const document: PageDocument = {
    get tree() {
      return make().tree
    },
    get raw() {
      return make().raw!
    },
    charset,
    isPage,
  }
  return { ...page, document, reading }
}

type FrameMeans = Pick<Means, 'egress' | 'signal' | 'answers'>

/** Puts the content of its frames into a page; gives what is to be told of them. */
async function withFrames({ tree, raw }: PageDocument, url: string, means: FrameMeans): Promise<string[]> {
  if (!holdsFrames(raw ?? '')) return []
  if (isLarge(raw!)) return [framesLeft]
  const { fillFrames } = await import('./content/frames.ts')
  return fillFrames(tree, url, (address) => frameAt(address, url, means))
}

/** What stands at the address of a frame; undefined for what is no page of the same origin. */
async function frameAt(address: string, url: string, means: FrameMeans): Promise<Tree | undefined> {
  const { egress, signal: caller, answers } = means
  const late = AbortSignal.timeout(limits.scrape.frameMs)
  try {
    const signal = AbortSignal.any([caller, late])
    const ask = () => fetchPage(address, { userAgent: httpUserAgent, egress, signal, admit: kindOfHeaders })
    const fetched = await (answers ? answers.fetched(address, ask) : ask())
    if (new URL(fetched.url).origin !== new URL(url).origin || fetched.status >= 400) return undefined
    if (isLarge(fetched.bytes)) throw new BaxError('content_too_large', 'it is too large for a frame')
    const { kind, document } = await readDocument(fetched, signal)
    return kind === 'html' ? document.tree : undefined
  } catch (error) {
    if (late.aborted && !caller.aborted) throw new BaxError('connection_failed', 'it did not come in time')
    // Pictures and films; addresses that nobody may open. A page is no worse for them.
    if (error instanceof BaxError && /^(?:unsupported_content_type|url_blocked)$/.test(error.code)) return undefined
    throw error
  }
}

const factsOf = ({ url, status, headers, redirects }: FetchedPage) => ({ url, status, headers, redirects, render: 'http', warnings: [] }) as const // prettier-ignore

const asObtained = (fetched: FetchedPage, document: PageDocument): ObtainedPage => ({
  ...factsOf(fetched),
  document,
  warnings: document.warning ? [document.warning] : [],
})

/** The page as a browser shows it. */
export async function inBrowser(plan: ScrapePlan, means: Omit<Means, 'memory'>): Promise<ObtainedPage> {
  const { input, formats, fullPage } = plan
  const ask = async () =>
    (await means.renderer()).render({
      url: plan.url,
      waitFor: input.wait_for,
      actions: input.actions,
      ...(formats.has('screenshot') && { screenshot: { fullPage } }),
      ...(formats.has('branding') && { script: brandingScript }),
      raw: formats.has('rawHtml'),
      blockAds: input.block_ads,
      removeOverlays: input.remove_overlays,
      signal: means.signal,
      deadline: means.deadline,
    })
  const rendered = await (means.answers ? means.answers.rendered(ask) : ask())
  const extras = extrasOf(rendered)
  if (!rendered.isPage) {
    // What a thread writes of a large file has what the browser gave beside it, as what is written here.
    const read: Means['read'] = (page) => means.read?.({ ...page, rendered: extras })
    return { ...(await overHttp(plan.url, { ...means, read })).page, rendered: extras }
  }
  if (rendered.html.length > limits.scrape.bodyBytes * 2) {
    throw new BaxError('content_too_large', 'the page has grown beyond what can be read')
  }
  const { html: text, charset, url, status, headers, redirects, warnings } = rendered
  const raw = rendered.raw !== undefined ? { raw: rendered.raw } : {}
  const page = { url, status, headers, redirects, render: 'browser', rendered: extras, warnings } as const
  const unread = { ...page, kind: 'html' as const, source: { text, charset, ...raw } }
  const elsewhere = await readAway(unread, means.read, () => text)
  if (elsewhere) return elsewhere
  const document = htmlDocument(text, charset, url)
  const framed = await withFrames(document, url, means)
  return { ...page, document: { ...document, ...raw }, warnings: [...warnings, ...framed] }
}

const extrasOf = ({ isPage, screenshot, reading, actions }: RenderedPage): Extras => ({
  isPage,
  ...(screenshot !== undefined && { screenshot }),
  ...(reading !== undefined && { reading }),
  ...(actions && { actions }),
})

/** Loads pages of scrapes: over HTTP where that is enough, else in a browser; see `render/decide/fetch-or-render.ts`. */
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import type { RequestRules } from '../egress/egress.ts'
import { HostMemory, requestedMode } from '../render/decide/fetch-or-render.ts'
import type { Reason } from '../render/decide/page-reason.ts'
import type { RenderedPage, Renderer } from '../render/browser/renderer.ts'
import brandingScript from './formats/branding.page.ts?inline'
import { present } from './documents/document.ts'
import { htmlDocument } from './documents/read.ts'
import { fetchOverHttp, withFrames } from './fetch-over-http.ts'
import { readInWorker } from './lazy-document.ts'
import {
  type Extras,
  areComparable,
  isReadable,
  type LoadedPage,
  renderReason,
  type VisitResponses,
} from './loaded-page.ts'
import { type Fetched, loadMarkdownFirst, type MarkdownFirst, type MarkdownSources } from './markdown/markdown-first.ts'
import { MarkdownSites } from './markdown/markdown-sites.ts'
import type { ScrapePlan } from './plan.ts'
import { withoutBrowser, withRenderFailure, withWarning } from './page-warnings.ts'
import type { Reading, UnreadPage } from './reading.ts'

export interface LoadContext {
  readonly memory: HostMemory
  readonly egress: RequestRules
  /** Loads the renderer on first use. */
  readonly renderer: () => Promise<Renderer>
  readonly signal: AbortSignal
  /** Deadline, as `performance.now()`. */
  readonly deadline: number
  /** Reads a page in a worker thread; returns undefined for pages to be read in this thread. */
  readonly read?: (page: UnreadPage) => Promise<Reading> | undefined
  /** Stored network responses; without them every page is fetched. */
  readonly answers?: VisitResponses | undefined
  /** Facts about the Markdown of sites. */
  readonly sites: MarkdownSites
}

/** Facts about hosts, learned from earlier pages. */
export type Known = Pick<LoadContext, 'memory' | 'sites'>

export const newKnown = (): Known => ({ memory: new HostMemory(), sites: new MarkdownSites() })

export async function loadPage(plan: ScrapePlan, context: LoadContext): Promise<LoadedPage> {
  const requested = requestedMode(plan)
  if (requested === 'browser' || (!requested && !plan.markdown && context.memory.needsBrowser(plan.url)))
    return renderInBrowser(plan, context)
  const complete = async (fetched: Fetched) => (requested ? fetched.page : renderIfNeeded(plan, context, fetched))
  if (!plan.markdown) return complete(await fetchOverHttp(plan.url, context))
  const { incomplete, ...fetched } = await fetchMarkdownFirst(plan, context, complete)
  const page = fetched.isHtml ? await complete(fetched) : fetched.page
  return incomplete === undefined ? page : withWarning(page, incomplete, 'markdown_incomplete')
}

/** Fetches the Markdown that a site offers in place of a page, or the page. */
export async function fetchMarkdownFirst(
  { url, markdown }: Pick<ScrapePlan, 'url' | 'markdown'>,
  context: Pick<LoadContext, 'egress' | 'signal' | 'read' | 'answers' | 'sites'>,
  complete: MarkdownSources['complete'],
): Promise<MarkdownFirst> {
  const { sites, answers, egress, signal } = context
  const find = (page: string) =>
    markdown === 'always' ? sites.find(page, { egress, signal }) : Promise.resolve(undefined)
  return loadMarkdownFirst(url, {
    fetch: (address, accept) =>
      accept === 'markdown'
        ? fetchOverHttp(address, { ...context, markdown: true })
        : fetchOverHttp(address, { ...context, ...(answers && { answers: asHtml(answers) }) }),
    complete,
    signal,
    refusing: sites.refusing(egress),
    // Pages of crawls are requested by their own URLs only, which robots.txt allows.
    listed: answers ? undefined : find,
  })
}

/** Stores responses apart from those to requests for Markdown. */
const asHtml = (answers: VisitResponses): VisitResponses => ({
  fetched: (url, ask) => answers.fetched(`${url}#html`, ask),
  rendered: (ask) => answers.rendered(ask),
})

async function renderIfNeeded(plan: ScrapePlan, context: LoadContext, { page, isHtml }: Fetched): Promise<LoadedPage> {
  const reason = isHtml ? renderReason(page) : undefined
  if (reason === undefined || context.memory.isIgnored(page.url, reason)) {
    if (isHtml) context.memory.recordComplete(page.url)
    return page
  }
  return renderPage(plan, context, page, reason)
}

/** Renders a page, and falls back to the fetched one. */
async function renderPage(
  plan: ScrapePlan,
  context: LoadContext,
  page: LoadedPage,
  reason: Reason,
): Promise<LoadedPage> {
  try {
    const rendered = await withReserve(context, (inner) => renderInBrowser(plan, inner))
    if (areComparable(page, rendered))
      context.memory.recordRendered(page.url, reason, page.document.tree.root, rendered.document.tree.root)
    return rendered
  } catch (error) {
    context.signal.throwIfAborted()
    if (!(error instanceof BaxError)) throw error
    // The fetched page is better than an error if it has readable text.
    const fallback = isBrowserMissing(error)
      ? isReadable(page) && withoutBrowser(page)
      : withRenderFailure(page, error.message)
    if (!fallback) throw error
    return fallback
  }
}

/** Whether an error means that no browser is installed. */
export const isBrowserMissing = ({ code }: BaxError): boolean => code === 'browser_not_found'

/** Runs work with an earlier deadline, which leaves time for the fallback. */
async function withReserve<T>(context: LoadContext, work: (context: LoadContext) => Promise<T>): Promise<T> {
  const left = context.deadline - performance.now()
  const reserve = Math.min(limits.scrape.fallbackMs, left / 4)
  const ms = left - reserve
  const { signal, deadline } = context
  const limit = { ms, error: `rendering took longer than ${Math.round(ms)} ms`, signal, cooperative: true }
  return withDeadline((inner) => work({ ...context, signal: inner, deadline: deadline - reserve }), limit)
}

export async function renderInBrowser(
  plan: ScrapePlan,
  context: Omit<LoadContext, 'memory' | 'sites'>,
): Promise<LoadedPage> {
  const { input, formats, fullPage } = plan
  const render = async () =>
    (await context.renderer()).render({
      url: plan.url,
      allowed: context.egress.allowed,
      from: context.egress.from ?? null,
      identity: plan.identity,
      turn: context.egress.turn,
      waitFor: input.wait_for,
      actions: input.actions,
      ...(formats.has('screenshot') && { screenshot: { fullPage } }),
      ...(formats.has('branding') && { script: brandingScript }),
      raw: formats.has('rawHtml'),
      blockAds: input.block_ads,
      removeOverlays: input.remove_overlays,
      signal: context.signal,
      deadline: context.deadline,
    })
  const rendered = await (context.answers ? context.answers.rendered(render) : render())
  const extras = extrasOf(rendered)
  if (!rendered.isPage) {
    // A worker thread needs the results of the browser to write the answer for a large file.
    const read: LoadContext['read'] = (page) => context.read?.({ ...page, rendered: extras })
    return { ...(await fetchOverHttp(plan.url, { ...context, read })).page, rendered: extras }
  }
  const { html: text, charset, url, status, headers, redirects, warnings, isCut } = rendered
  const coded = isCut && { warningCode: 'incomplete_response' as const }
  const raw = rendered.raw !== undefined ? { raw: rendered.raw } : {}
  const page = { url, status, headers, redirects, render: 'browser', rendered: extras, warnings, ...coded } as const
  const unread = { ...page, kind: 'html' as const, source: { text, charset, ...raw } }
  const pageOfWorker = await readInWorker(unread, context.read)
  if (pageOfWorker) return pageOfWorker
  const document = await htmlDocument({ text, charset, url }, headers)
  const framed = await withFrames(document, url, context)
  return { ...page, document: { ...document, ...raw }, warnings: [...warnings, ...framed] }
}

const extrasOf = ({ isPage, screenshot, reading, actions }: RenderedPage): Extras => ({
  isPage,
  ...present({ screenshot, reading, actions }),
})

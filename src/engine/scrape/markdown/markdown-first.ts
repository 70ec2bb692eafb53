/**
 * Loads the Markdown that a site offers in place of a page: what the server sends for `Accept: text/markdown`, what the
 * page links to as its alternative, or what llms.txt lists. The page is used where the Markdown is much shorter. Both
 * are loaded only if the page is at hand already, or if the Markdown is so short that it may not be all of it.
 */
import { BaxError } from '../../../core/errors/errors.ts'
import type { ScrapeMetadata } from '../../../core/shapes/scrape.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'
import type { ContentKind } from '../../render/http/content-kind.ts'
import { contentOf } from '../content/content.ts'
import { metadataOf } from '../formats/metadata.ts'
import { type LoadedPage, renderReason } from '../loaded-page.ts'
import { markdownLinkOf } from './markdown-links.ts'
import { isMarkdownName } from './markdown-urls.ts'

export interface Fetched {
  readonly page: LoadedPage
  readonly kind: ContentKind
  readonly isHtml: boolean
}

/** Hosts that do not answer requests for Markdown. */
export type RefusingHosts = Pick<Set<string>, 'has'> & { add(host: string): void }

export interface MarkdownSources {
  fetch(url: string, accept: 'markdown' | 'html'): Promise<Fetched>
  /** Completes a fetched page; it may need a browser. */
  complete(fetched: Fetched): Promise<LoadedPage>
  readonly signal: AbortSignal
  readonly refusing: RefusingHosts
  /** Returns the URL that llms.txt lists as the Markdown of a page. Without it, other URLs are not requested. */
  readonly listed?: ((url: string) => Promise<string | undefined>) | undefined
}

/** The result, `isHtml` if it is still the fetched page. */
export interface MarkdownFirst extends Fetched {
  /** Warning about Markdown that was not used. */
  readonly incomplete?: string
}

/** Loads the Markdown of a page or, if there is none as complete as it, the page. */
export async function loadMarkdownFirst(url: string, sources: MarkdownSources): Promise<MarkdownFirst> {
  const asked = await fetchEither(url, sources)
  if (asked.kind === 'markdown' && asked.page.status < 400) {
    if (isMarkdownName(url) || !mayBeIncomplete(asked.page)) return asked
    return moreComplete(asked, () => sources.fetch(url, 'html'), sources)
  }
  if (!asked.isHtml || asked.page.status >= 400 || !sources.listed) return asked
  const alternate = await alternateOf(asked.page, sources.listed)
  const markdown = alternate === undefined ? undefined : await fetchAlternate(alternate, sources)
  if (!markdown) return asked
  return moreComplete({ ...markdown, page: inPlaceOf(markdown.page, asked.page) }, async () => asked, sources)
}

/** Statuses of servers that do not understand the request for Markdown. */
const refusals: ReadonlySet<number> = new Set([400, 403, 406, 415, 501])

/** Fetches a page as Markdown or HTML; again as HTML where the server cannot answer a request for Markdown. */
async function fetchEither(url: string, { fetch, refusing }: MarkdownSources): Promise<Fetched> {
  const { host } = new URL(url)
  if (refusing.has(host)) return fetch(url, 'html')
  let isRefusal = true
  try {
    const asked = await fetch(url, 'markdown')
    const isEmpty = asked.kind === 'markdown' && lengthOf(markdownIn(asked.page)) === 0
    isRefusal = refusals.has(asked.page.status)
    // Neither an empty file nor a failure tells anything about other pages.
    if (!isRefusal && asked.page.status !== 500 && !isEmpty) return asked
  } catch (error) {
    if (!(error instanceof BaxError) || error.code !== 'unsupported_content_type') throw error
  }
  const html = await fetch(url, 'html')
  if (isRefusal && html.page.status < 400) refusing.add(host)
  return html
}

async function alternateOf(page: LoadedPage, listed: NonNullable<MarkdownSources['listed']>) {
  const { reading, document, headers, url } = page
  const linked = reading ? reading.markdownUrl : markdownLinkOf(document.tree, headers)
  return linked !== undefined && isOfSite(linked, url) ? linked : listed(url)
}

/** Whether a URL is on the host of a page; http and https of a host are one site. */
function isOfSite(linked: string, page: string): boolean {
  const url = parseUrl(linked)
  return url !== undefined && /^https?:$/.test(url.protocol) && url.host === new URL(page).host && linked !== page
}

/** Fetches the Markdown of a page; undefined if it cannot be used. */
async function fetchAlternate(url: string, { fetch, signal }: MarkdownSources): Promise<Fetched | undefined> {
  const fetched = await unlessFailed(() => fetch(url, 'markdown'), signal)
  if (!fetched) return undefined
  const { page, kind } = fetched
  const isHere = page.url === url || isOfSite(page.url, url)
  return isHere && kind === 'markdown' && page.status < 400 ? fetched : undefined
}

/** Returns undefined where one form of a page cannot be loaded, and the other is at hand. */
async function unlessFailed<T>(load: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await load()
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof BaxError && error.code !== 'timeout') return undefined
    throw error
  }
}

/** Returns Markdown from another URL as the content of the page, with the metadata of both. */
function inPlaceOf(markdown: LoadedPage, { url, redirects, document }: LoadedPage): LoadedPage {
  const metadata: Partial<ScrapeMetadata> = metadataOf(document.tree)
  const alternate = { url: markdown.url, metadata }
  const page = { ...markdown, url, redirects, alternate }
  const { written } = markdown.reading ?? {}
  if (!written?.answer.data) return page
  // A worker thread has already written the answer.
  const facts = {
    ...metadata,
    ...written.answer.data.metadata,
    url,
    redirects: [...redirects],
    markdown_url: markdown.url,
  }
  const answer = { ...written.answer, data: { ...written.answer.data, metadata: facts } }
  return { ...page, reading: { ...markdown.reading!, written: { ...written, answer } } }
}

/** Length of the Markdown of a page, in letters, below which it may be a stub. */
const shortMarkdown = 1500
/** Share of the letters of a page below which its Markdown is incomplete. */
const completeShare = 0.5

/** The end of a text that goes on elsewhere. */
const cutOff =
  /(?:\.\.\.|…|\b(?:read|see|view|show|learn|continue)(?: reading)?(?: more| the (?:full|rest|whole|complete)\b[^\n]{0,60})?)[\s.\])*_]*$/i

function mayBeIncomplete(page: LoadedPage): boolean {
  const markdown = markdownIn(page)
  return lengthOf(markdown) < shortMarkdown || cutOff.test(markdown.slice(-200).replaceAll(/\]\([^)]*\)/g, ''))
}

/** Returns the Markdown, unless it is much shorter than the page. */
async function moreComplete(
  markdown: Fetched,
  load: () => Promise<Fetched>,
  sources: MarkdownSources,
): Promise<MarkdownFirst> {
  return (await unlessFailed(async () => longerPage(markdown, await load(), sources), sources.signal)) ?? markdown
}

/** Returns the page if its Markdown is much shorter. */
async function longerPage(
  markdown: Fetched,
  html: Fetched,
  sources: MarkdownSources,
): Promise<MarkdownFirst | undefined> {
  if (!html.isHtml || html.page.status >= 400) return undefined
  // The HTML of a page that scripts fill has little text, and proves nothing.
  const isDrawn = renderReason(html.page) !== undefined && mayBeIncomplete(markdown.page)
  const page = isDrawn ? await sources.complete(html) : html.page
  const [length, whole] = [lengthOf(markdownIn(markdown.page)), lengthOf(await contentIn(page))]
  if (length >= completeShare * whole) return undefined
  const incomplete = `the page is used: its Markdown has ${length} letters, and the main content of the page ${whole}`
  if (isDrawn) return { page, kind: 'html', isHtml: false, incomplete }
  return { ...html, incomplete }
}

const markdownIn = ({ document, reading }: LoadedPage): string =>
  reading?.written?.answer.data?.markdown ?? document.markdown ?? ''

async function contentIn({ document, reading }: LoadedPage): Promise<string> {
  const written = reading?.written?.answer.data?.markdown
  if (written !== undefined) return written
  return (await contentOf(document, { onlyMain: true, inlineImages: false, headline: true })).markdown
}

/** Targets of links, which may contain parentheses, and URLs. */
const targets = /\]\([^()\n]{0,9999}(?:\([^()\n]{0,999}\)[^()\n]{0,999}){0,99}\)|<https?:[^<>\n]{0,9999}>/g

/** Returns the number of letters and digits of Markdown, without the URLs of its links. */
const lengthOf = (markdown: string): number => markdown.replaceAll(targets, ']').match(/[\p{L}\p{N}]/gu)?.length ?? 0

/** Creates the answer of a scrape from a loaded page. */
import { STATUS_CODES } from 'node:http'
import { newId } from '../../core/ids.ts'
import type { ScrapeAnswer, ScrapeData, ScrapeMetadata } from '../../core/shapes/scrape.ts'
import { type FormatResults, createFormats } from './formats/formats.ts'
import { present } from './documents/document.ts'
import { metadataOf } from './formats/metadata.ts'
import type { LoadedPage } from './loaded-page.ts'
import type { ScrapePlan } from './plan.ts'
import type { Extractors } from './formats/extractors.ts'

/** Creates the answer with the requested formats; `start` is `performance.now()` at the beginning of the scrape. */
export async function writePage(
  plan: ScrapePlan,
  page: LoadedPage,
  { start, extractors }: { readonly start: number; readonly extractors: Extractors },
): Promise<ScrapeAnswer> {
  const filled = await createFormats(plan, page, extractors)
  const { error, ...response } = responseFacts(page)
  const metadata: ScrapeMetadata = {
    ...metadataOf(page.document.tree),
    ...documentFacts(page),
    ...filled.metadata,
    sourceURL: plan.input.url,
    ...response,
    ...(error && { error }),
    scrape_id: newId('scr'),
    duration_ms: Math.round(performance.now() - start),
    render: page.render,
  }
  return answerOf(page, filled, metadata)
}

/** Returns the metadata of the HTTP response. */
function responseFacts({ url, status, headers, document, redirects }: LoadedPage) {
  return {
    url,
    status_code: status,
    ...(status >= 400 && { error: STATUS_CODES[status] ?? `HTTP ${status}` }),
    ...present({ content_type: headers.get('content-type') ?? undefined, charset: document.charset }),
    redirects: [...redirects],
  }
}

/** Returns the metadata of documents other than HTML. */
function documentFacts({ document, headers }: LoadedPage): Partial<ScrapeMetadata> {
  const { title, description, author, published, modified, pages, isPage } = document
  const header = isPage ? undefined : headers.get('content-language')?.replace(/,.*/s, '').trim()
  const language = document.language ?? header
  return present({ title, description, language, author, published_time: published, modified_time: modified, num_pages: pages }) // prettier-ignore
}

function answerOf(page: LoadedPage, filled: FormatResults, metadata: ScrapeMetadata): ScrapeAnswer {
  const { actions } = page.rendered ?? {}
  const status = metadata.error ? `the page answered ${page.status} ${metadata.error}` : undefined
  const warning = [status, ...page.warnings, ...filled.warnings].filter(Boolean).join('; ')
  const data: ScrapeData = { ...filled.data, ...(actions && { actions }), metadata }
  const code = page.warningCode ?? filled.warningCode
  return { success: true, data, ...(warning && { warning }), ...(code && { warning_code: code }) }
}

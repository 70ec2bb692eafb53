/** The answer of a scrape, from the page that was had. */
import { STATUS_CODES } from 'node:http'
import { newId } from '../../core/ids.ts'
import type { ScrapeAnswer, ScrapeData, ScrapeMetadata } from '../../core/shapes/scrape.ts'
import { type Filled, fillFormats } from './formats/formats.ts'
import { metadataOf } from './formats/metadata.ts'
import type { ObtainedPage } from './load-page.ts'
import type { ScrapePlan } from './plan.ts'
import type { Reader } from './formats/reader.ts'

/** The formats that were asked for; `start` is `performance.now()` at the beginning of the scrape. */
export async function writePage(
  plan: ScrapePlan,
  page: ObtainedPage,
  { start, reader }: { readonly start: number; readonly reader: Reader },
): Promise<ScrapeAnswer> {
  const filled = await fillFormats(plan, page, reader)
  const { error, ...told } = answerFacts(page)
  const metadata: ScrapeMetadata = {
    ...metadataOf(page.document.tree),
    ...documentFacts(page),
    ...filled.metadata,
    sourceURL: plan.input.url,
    ...told,
    ...(error && { error }),
    scrape_id: newId('scr'),
    duration_ms: Math.round(performance.now() - start),
    render: page.render,
  }
  return answerOf(page, filled, metadata)
}

/** What the answer says, beside its content. */
function answerFacts({ url, status, headers, document, redirects }: ObtainedPage) {
  const type = headers.get('content-type')
  const { charset } = document
  return {
    url,
    status_code: status,
    ...(status >= 400 && { error: STATUS_CODES[status] ?? `HTTP ${status}` }),
    ...(type && { content_type: type }),
    ...(charset && { charset }),
    redirects: [...redirects],
  }
}

/** Facts of documents that are no pages. */
function documentFacts({ document, headers }: ObtainedPage): Partial<ScrapeMetadata> {
  const { title, description, language, author, published, modified, pages } = document
  const told = headers.get('content-language')?.split(',')[0]!.trim()
  const said = language ?? (document.isPage ? undefined : told)
  return {
    ...(title && { title }),
    ...(description && { description }),
    ...(said && { language: said }),
    ...(author && { author }),
    ...(published && { published_time: published }),
    ...(modified && { modified_time: modified }),
    ...(pages !== undefined && { num_pages: pages }),
  }
}

function answerOf(page: ObtainedPage, filled: Filled, metadata: ScrapeMetadata): ScrapeAnswer {
  const { actions } = page.rendered ?? {}
  const status = metadata.error ? `the page answered ${page.status} ${metadata.error}` : undefined
  const warning = [status, ...page.warnings, ...filled.warnings].filter(Boolean).join('; ')
  const data: ScrapeData = { ...filled.data, ...(actions && { actions }), metadata }
  const code = page.warningCode ?? filled.warningCode
  return { success: true, data, ...(warning && { warning }), ...(code && { warning_code: code }) }
}

/** Creates the answer of a scrape from a loaded page. */
import { STATUS_CODES } from 'node:http'
import { newId } from '../../core/ids.ts'
import type { ScrapeAnswer, ScrapeData, ScrapeMetadata } from '../../core/shapes/scrape.ts'
import { signalsIn } from '../../core/shapes/read/terms.ts'
import { hasRelation, headerLinks } from './header-links.ts'
import { present } from './documents/document.ts'
import { metadataOf } from './formats/metadata.ts'
import type { LoadedPage } from './loaded-page.ts'
import { statusWarning } from './status-warning.ts'
import type { ScrapePlan } from './plan.ts'
import { type Extractors, modelFailure } from './formats/extractors.ts'
import { type PageContent, contentOf } from './content/content.ts'
import { findElement } from '../extract/tree.ts'
import type { PageTrace } from '../extract/main-content/site/outline.ts'

export interface WrittenAnswer {
  readonly answer: ScrapeAnswer
  /** Present for pages of a site. */
  readonly trace?: PageTrace
}

/** Creates the answer with the requested formats; `start` is `performance.now()` at the beginning of the scrape. */
export async function writePage(
  plan: ScrapePlan,
  page: LoadedPage,
  { start, extractors }: { readonly start: number; readonly extractors: Extractors },
): Promise<WrittenAnswer> {
  const filled = await createFormats(plan, page, extractors)
  const { error, ...response } = responseFacts(page)
  const shown = metadataOf(page.document.tree)
  const { render, rendered } = page
  const metadata: ScrapeMetadata = {
    ...page.alternate?.metadata,
    ...shown,
    ...documentFacts(page),
    ...filled.metadata,
    sourceURL: plan.input.url,
    ...response,
    ...termsOf(page, shown.licenses),
    ...(error && { error }),
    scrape_id: newId('scr'),
    duration_ms: Math.round(performance.now() - start),
    render,
    ...(page.alternate && { markdown_url: page.alternate.url }),
  }
  const data: ScrapeData = { ...filled.data, ...(rendered?.actions && { actions: rendered.actions }), metadata }
  const status = statusWarning(page)
  const warning = [status.warning, ...page.warnings, ...filled.warnings].filter(Boolean).join('; ')
  const code = page.warningCode ?? status.warning_code ?? filled.warningCode
  const answer = { success: true, data, ...(warning && { warning }), ...(code && { warning_code: code }) }
  return { answer, ...(filled.trace && { trace: filled.trace }) }
}

function responseFacts({ url, status, headers, document, redirects }: LoadedPage) {
  return {
    url,
    status_code: status,
    ...(status >= 400 && { error: STATUS_CODES[status] ?? `HTTP ${status}` }),
    ...present({ content_type: headers.get('content-type') ?? undefined, charset: document.charset }),
    redirects: [...redirects],
  }
}

/** Returns the terms of use in the headers of the response, and the licenses in both. */
function termsOf({ url, headers }: LoadedPage, shown: readonly string[] = []) {
  const linked = headerLinks(headers, url).filter(({ rel }) => hasRelation(rel, 'license'))
  const licenses = [...new Set([...linked.map((link) => link.url), ...shown])]
  const signals = signalsIn(headers.all('content-signal'))
  return {
    ...(Object.keys(signals).length > 0 && { content_signals: signals }),
    ...(licenses.length > 0 && { licenses }),
  }
}

/** Returns the metadata of documents other than HTML. */
function documentFacts({ document, headers }: LoadedPage): Partial<ScrapeMetadata> {
  const { title, description, author, published, modified, pages, isPage, frontMatter, sourceFormat } = document
  const header = isPage ? undefined : headers.get('content-language')?.replace(/,.*/s, '').trim()
  const language = document.language ?? header
  return present({
    title,
    description,
    language,
    author,
    published_time: published,
    modified_time: modified,
    num_pages: pages,
    source_format: sourceFormat,
    front_matter: frontMatter,
  })
}

async function createFormats(plan: ScrapePlan, page: LoadedPage, extractors: Extractors) {
  const { formats, input, tags } = plan
  const { rendered } = page
  // Metadata, rawHtml, product and attributes are those of the whole page.
  const { document, warning: tagsWarning } = tags
    ? (await import('./content/tags.ts')).limitToTags(page.document, tags)
    : { document: page.document }
  const inlineImages = !input.remove_base64_images
  const content = await contentOf(document, {
    onlyMain: input.only_main_content && !tags?.include.length,
    inlineImages,
    headline: true,
    site: plan.site,
  })
  const data: Omit<ScrapeData, 'metadata'> = {}
  const metadata: Partial<ScrapeMetadata> = {}
  // A page without scripts is complete as fetched, so it needs no warning if it is empty.
  const isComplete =
    page.status === 200 &&
    input.render === 'http' &&
    !findElement(page.document.tree.root, ({ tag }) => tag === 'script')
  const isExpected = isComplete && content.warningCode === 'empty_page'
  // Nothing else is said about a page without the elements.
  const { warning, warningCode } = tagsWarning !== undefined ? { warning: tagsWarning } : isExpected ? {} : content
  const warnings = warning ? [warning] : []
  if (formats.has('markdown')) data.markdown = content.markdown
  if (formats.has('html')) {
    const { cleanHtml } = await import('./formats/clean-html.ts')
    data.html = cleanHtml(content.tree, { dropInlineImages: !inlineImages })
  }
  if (formats.has('rawHtml')) {
    if (document.raw !== undefined) data.rawHtml = document.raw
    else warnings.push('rawHtml is missing: the content is not text')
  }
  if (formats.has('links') || formats.has('images')) {
    // Links and images are those of the whole page, whatever part of it the content is.
    const { imagesOf, linksOf } = await import('./formats/links.ts')
    if (formats.has('links')) data.links = linksOf(document.tree)
    if (formats.has('images')) data.images = imagesOf(document.tree)
  }
  warnings.push(...(await addPageFacts(plan, page, data)))
  if (rendered?.screenshot) data.screenshot = rendered.screenshot
  if (formats.has('branding')) data.branding = (rendered?.reading as Record<string, unknown> | undefined) ?? {}
  // Run both at once, because a model takes seconds.
  const [summary, json] = await Promise.all([
    formats.has('summary') ? summaryOf(page, content, extractors) : undefined,
    formats.has('json')
      ? import('./formats/json.ts').then(({ jsonOf }) => jsonOf(plan.json, document, extractors))
      : undefined,
  ])
  if (summary) {
    data.summary = summary.text
    metadata.summary_source = summary.source
    if (summary.warning !== undefined) warnings.push(summary.warning)
  }
  if (json) {
    data.json = json.value
    Object.assign(metadata, json.metadata)
    warnings.push(...json.warnings)
  }
  return { data, metadata, warnings, trace: content.trace, ...(warningCode && { warningCode }) }
}

/** Adds the formats that state facts of the whole page, whatever part of it the content is; returns warnings. */
async function addPageFacts(
  { formats, attributes }: ScrapePlan,
  { document, url }: LoadedPage,
  data: Omit<ScrapeData, 'metadata'>,
): Promise<string[]> {
  const warnings: string[] = []
  if (formats.has('product')) {
    const { productOf } = await import('./formats/product/product.ts')
    const read = productOf(document.tree, { isPage: document.isPage, url })
    data.product = read.value
    warnings.push(...read.warnings)
  }
  if (formats.has('attributes')) {
    const { attributesOf } = await import('./formats/attributes/attributes.ts')
    const read = attributesOf(document.tree.root, attributes)
    data.attributes = read.values
    warnings.push(...read.warnings)
  }
  return warnings
}

async function summaryOf({ document }: LoadedPage, content: PageContent, extractors: Extractors) {
  const { title = '', description = '', language = '' } = { ...metadataOf(document.tree), ...document }
  let warning: string | undefined
  if (extractors.model && content.markdown.trim() !== '') {
    const { summariseByModel } = await import('./formats/model-summary.ts')
    try {
      const text = await summariseByModel(content.markdown, title, extractors.model)
      return { text, source: 'model' as const, warning }
    } catch (error) {
      warning = `${modelFailure(error, extractors)}: the summary consists of sentences of the page`
    }
  }
  const { summarise } = await import('./formats/summary.ts')
  const text = summarise(content.tree.root, title, description, language)
  return { text, source: 'extractive' as const, warning }
}

/** Creates the requested formats of a page. */
import type { ScrapeData, ScrapeMetadata, WarningCode } from '../../../core/shapes/scrape.ts'
import { type PageContent, contentOf } from '../content/content.ts'
import { metadataOf } from './metadata.ts'
import { findElement } from '../../extract/tree.ts'
import type { LoadedPage } from '../loaded-page.ts'
import type { ScrapePlan } from '../plan.ts'
import { type Extractors, modelFailure } from './extractors.ts'

export interface FormatResults {
  readonly data: Omit<ScrapeData, 'metadata'>
  readonly metadata: Partial<ScrapeMetadata>
  readonly warnings: readonly string[]
  readonly warningCode?: WarningCode
}

export async function createFormats(
  plan: ScrapePlan,
  page: LoadedPage,
  extractors: Extractors,
): Promise<FormatResults> {
  const { formats, input } = plan
  const { document, rendered } = page
  const inlineImages = !input.remove_base64_images
  const content = await contentOf(document, { onlyMain: input.only_main_content, inlineImages, headline: true })
  const data: { -readonly [Name in keyof FormatResults['data']]: FormatResults['data'][Name] } = {}
  const metadata: Partial<ScrapeMetadata> = {}
  // A page without scripts is complete as fetched, so it needs no warning if it is empty.
  const isComplete = input.render === 'http' && !findElement(document.tree.root, ({ tag }) => tag === 'script')
  const { warning, warningCode } = isComplete && content.warningCode ? {} : content
  const warnings = warning ? [warning] : []
  if (formats.has('markdown')) data.markdown = content.markdown
  if (formats.has('html')) {
    const { cleanHtml } = await import('./clean-html.ts')
    data.html = cleanHtml(content.tree, { dropInlineImages: !inlineImages })
  }
  if (formats.has('rawHtml')) {
    if (document.raw !== undefined) data.rawHtml = document.raw
    else warnings.push('rawHtml is missing: the content is not text')
  }
  if (formats.has('links') || formats.has('images')) {
    // Links and images are those of the whole page, whatever part of it the content is.
    const { imagesOf, linksOf } = await import('./links.ts')
    if (formats.has('links')) data.links = linksOf(document.tree)
    if (formats.has('images')) data.images = imagesOf(document.tree)
  }
  if (rendered?.screenshot) data.screenshot = rendered.screenshot
  if (formats.has('branding')) data.branding = (rendered?.reading as Record<string, unknown> | undefined) ?? {}
  // Run both at once, because a model takes seconds.
  const [summary, json] = await Promise.all([
    formats.has('summary') ? summaryOf(page, content, extractors) : undefined,
    formats.has('json') ? import('./json.ts').then(({ jsonOf }) => jsonOf(plan.json, document, extractors)) : undefined,
  ])
  if (summary) {
    data.summary = summary.text
    metadata.summary_source = summary.source
    if (summary.warning) warnings.push(summary.warning)
  }
  if (json) {
    data.json = json.value
    Object.assign(metadata, json.metadata)
    warnings.push(...json.warnings)
  }
  return { data, metadata, warnings, ...(warningCode && { warningCode }) }
}

interface Summary {
  readonly text: string
  readonly source: 'extractive' | 'model'
  readonly warning?: string
}

async function summaryOf({ document }: LoadedPage, content: PageContent, extractors: Extractors): Promise<Summary> {
  const { title = '', description = '', language = '' } = { ...metadataOf(document.tree), ...document }
  let warning: string | undefined
  if (extractors.model && content.markdown.trim() !== '') {
    const { summariseByModel } = await import('./model-summary.ts')
    try {
      return { text: await summariseByModel(content.markdown, title, extractors.model), source: 'model' }
    } catch (error) {
      warning = `${modelFailure(error, extractors)}: the summary consists of sentences of the page`
    }
  }
  const { summarise } = await import('./summary.ts')
  const text = summarise(content.tree.root, title, description, language)
  return { text, source: 'extractive', ...(warning && { warning }) }
}

/** Fills the formats that were asked for from one page. */
import type { ScrapeData, ScrapeMetadata, WarningCode } from '../../../core/shapes/scrape.ts'
import { type PageContent, contentOf } from '../content/content.ts'
import { metadataOf } from './metadata.ts'
import { findElement } from '../../extract/tree.ts'
import type { ObtainedPage } from '../load-page.ts'
import type { ScrapePlan } from '../plan.ts'
import { type Reader, whyNoModel } from './reader.ts'

export interface Filled {
  readonly data: Omit<ScrapeData, 'metadata'>
  readonly metadata: Partial<ScrapeMetadata>
  readonly warnings: readonly string[]
  readonly warningCode?: WarningCode
}

export async function fillFormats(plan: ScrapePlan, page: ObtainedPage, reader: Reader): Promise<Filled> {
  const { formats, input } = plan
  const { document, rendered } = page
  const wishes = { onlyMain: input.only_main_content, inlineImages: !input.remove_base64_images, headline: true }
  const content = await contentOf(document, wishes)
  const data: Filling = {}
  const metadata: Partial<ScrapeMetadata> = {}
  // Whoever asks for a page as it is sent waits for nothing: without scripts an empty page is what it is.
  const isComplete = input.render === 'http' && !findElement(document.tree.root, ({ tag }) => tag === 'script')
  const { warning, warningCode } = isComplete && content.warningCode ? {} : content
  const warnings = warning ? [warning] : []
  if (formats.has('markdown')) data.markdown = content.markdown
  if (formats.has('html')) data.html = await htmlOf(content, wishes.inlineImages)
  if (formats.has('rawHtml') && document.raw !== undefined) data.rawHtml = document.raw
  if (formats.has('rawHtml') && document.raw === undefined) warnings.push('there is no rawHtml: the content is no text')
  if (formats.has('links') || formats.has('images')) Object.assign(data, await addressesOf(plan, page))
  if (rendered?.screenshot) data.screenshot = rendered.screenshot
  if (formats.has('branding')) data.branding = (rendered?.reading as Record<string, unknown> | undefined) ?? {}
  // A model takes seconds: it is asked for both at once.
  const [summary, json] = await Promise.all([
    formats.has('summary') ? summaryOf(page, content, reader) : undefined,
    formats.has('json') ? import('./json.ts').then(({ jsonOf }) => jsonOf(plan.json, document, reader)) : undefined,
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

type Filling = { -readonly [Name in keyof Filled['data']]: Filled['data'][Name] }

async function htmlOf({ tree }: PageContent, inlineImages: boolean): Promise<string> {
  const { cleanHtml } = await import('./clean-html.ts')
  return cleanHtml(tree, { dropInlineImages: !inlineImages })
}

/** Of the whole page, whatever part of it the text is. */
async function addressesOf({ formats }: ScrapePlan, { document }: ObtainedPage): Promise<Filling> {
  const { imagesOf, linksOf } = await import('./links.ts')
  return {
    ...(formats.has('links') && { links: linksOf(document.tree) }),
    ...(formats.has('images') && { images: imagesOf(document.tree) }),
  }
}

interface Summary {
  readonly text: string
  readonly source: 'extractive' | 'model'
  readonly warning?: string
}

async function summaryOf({ document }: ObtainedPage, content: PageContent, reader: Reader): Promise<Summary> {
  const { title = '', description = '', language = '' } = { ...metadataOf(document.tree), ...document }
  let warning: string | undefined
  if (reader.model && content.markdown.trim() !== '') {
    const { summariseByModel } = await import('./model-summary.ts')
    try {
      return { text: await summariseByModel(content.markdown, title, reader.model), source: 'model' }
    } catch (error) {
      warning = `${whyNoModel(error, reader)}: the summary is made of the page's own sentences`
    }
  }
  const { summarise } = await import('./summary.ts')
  const text = summarise(content.tree.root, title, description, language)
  return { text, source: 'extractive', ...(warning && { warning }) }
}

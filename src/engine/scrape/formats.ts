/** Fills the formats that were asked for from one page. */
import type { ScrapeData, ScrapeMetadata } from '../../core/shapes/scrape.ts'
import { type PageContent, contentOf } from './content.ts'
import { metadataOf } from './metadata.ts'
import type { ObtainedPage } from './obtain.ts'
import type { ScrapePlan } from './plan.ts'

export interface Filled {
  readonly data: Omit<ScrapeData, 'metadata'>
  readonly metadata: Partial<ScrapeMetadata>
  readonly warnings: readonly string[]
}

export async function fillFormats(plan: ScrapePlan, page: ObtainedPage): Promise<Filled> {
  const { formats, input } = plan
  const { document, rendered } = page
  const wishes = { onlyMain: input.only_main_content, inlineImages: !input.remove_base64_images }
  const content = await contentOf(document, wishes)
  const data: Filling = {}
  const metadata: Partial<ScrapeMetadata> = {}
  const warnings = content.warning ? [content.warning] : []
  if (formats.has('markdown')) data.markdown = content.markdown
  if (formats.has('html')) data.html = await htmlOf(content, wishes.inlineImages)
  if (formats.has('rawHtml') && document.raw !== undefined) data.rawHtml = document.raw
  if (formats.has('rawHtml') && document.raw === undefined) warnings.push('there is no rawHtml: the content is no text')
  if (formats.has('links') || formats.has('images')) Object.assign(data, await addressesOf(plan, page))
  if (rendered?.screenshot) data.screenshot = rendered.screenshot
  if (formats.has('branding')) data.branding = (rendered?.reading as Record<string, unknown> | undefined) ?? {}
  if (formats.has('summary')) Object.assign(metadata, await fillSummary(data, page, content))
  return { data, metadata, warnings }
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

async function fillSummary(data: Filling, { document }: ObtainedPage, content: PageContent) {
  const { summarise } = await import('./summary.ts')
  const { title = '', description = '', language = '' } = { ...metadataOf(document.tree), ...document }
  data.summary = summarise(content.tree.root, title, description, language)
  return { summary_source: 'extractive' as const }
}

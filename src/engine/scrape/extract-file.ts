/** Converts HTML text to Markdown or JSON, without a browser and without a network. */
import type { WarningCode } from '../../core/shapes/scrape.ts'
import { contentOf } from './content/content.ts'
import { type JsonOptions, jsonOf } from './formats/json.ts'
import type { SiteSummary } from '../extract/main-content/site/site-memory.ts'
import { type PageDocument, present } from './documents/document.ts'
import { htmlDocumentWith, readDocument } from './documents/read.ts'
import { kindOfBytes } from '../render/http/content-kind.ts'
import { ResponseHeaders } from '../egress/response-headers.ts'
import { declaredIn, decodeText } from '../render/http/charset.ts'
import { queryEncoderFor } from '../render/http/query-encoder.ts'
import { attribute, elementsOf } from '../extract/tree.ts'
import { resolveUrl } from '../extract/urls.ts'

export interface ExtractOptions {
  /** URL of the page, for resolving links; default: its canonical URL. Without either, links stay relative. */
  readonly url?: string
  readonly onlyMain: boolean
  /** Whether to restore a missing headline, and missing parts of reference documentation. */
  readonly headline: boolean
  /** Summary of other pages of the site; the result then has an outline of the page. */
  readonly site?: SiteSummary | undefined
}

export interface ExtractedMarkdown {
  readonly markdown: string
  readonly warning?: string
  readonly warning_code?: WarningCode
  readonly outline?: string
}

/** Returns the Markdown of a page's main content, or of all of it. */
export async function extractMarkdown(
  bytes: Uint8Array,
  { url, onlyMain, headline, site }: ExtractOptions,
): Promise<ExtractedMarkdown> {
  const content = await contentOf(await pageIn(bytes, url), { onlyMain, headline, inlineImages: false, site })
  const { markdown, warning, warningCode, trace } = content
  return { markdown, ...present({ warning, warning_code: warningCode, outline: trace?.outline }) }
}

export interface ExtractedJson {
  readonly json: unknown
  readonly warning?: string
}

/** Returns the data of a page, as the json format of a scrape without a language model. */
export async function extractJson(bytes: Uint8Array, options: JsonOptions, url?: string): Promise<ExtractedJson> {
  const { value, warnings } = await jsonOf(options, await pageIn(bytes, url), { model: undefined, rules: true })
  return { json: value, ...(warnings.length > 0 && { warning: warnings.join('; ') }) }
}

/** Reads a document; links of an HTML page are relative to its canonical URL if it has no other. */
async function pageIn(bytes: Uint8Array, url: string | undefined): Promise<PageDocument> {
  const document = await documentIn(bytes, url)
  const canonical = url === undefined && document.isPage ? canonicalOf(document.tree.root) : undefined
  if (canonical === undefined || document.tree.baseUrl !== '') return document
  return { ...document, tree: { ...document.tree, baseUrl: canonical } }
}

/** Reads HTML, or a PDF or office document, which is detected by its bytes. */
async function documentIn(bytes: Uint8Array, url: string | undefined): Promise<PageDocument> {
  const headers = new ResponseHeaders([])
  const kind = kindOfBytes(bytes)
  if (kind === 'pdf' || kind === 'office') {
    const page = { url: url ?? 'file:///document', status: 200, headers, redirects: [], bytes }
    return (await readDocument(page, { signal: new AbortController().signal })).document
  }
  const { text, charset } = await decodeText(bytes, null, { declares: true })
  // Saved pages are UTF-8 but still declare the encoding in which browsers request their links.
  const encode = await queryEncoderFor((charset === 'utf-8' && (await declaredIn(bytes))) || charset)
  return htmlDocumentWith({ text, charset, url: url ?? '' }, headers, encode)
}

function canonicalOf(root: Parameters<typeof elementsOf>[0]): string | undefined {
  for (const element of elementsOf(root, ({ tag }) => tag !== 'body')) {
    if (element.tag !== 'link' || attribute(element, 'rel').toLowerCase() !== 'canonical') continue
    const url = resolveUrl(attribute(element, 'href'), 'file:///')
    return url && /^https?:/.test(url) ? url : undefined
  }
  return undefined
}

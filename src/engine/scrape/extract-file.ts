/** Converts HTML text to Markdown, without a browser and without a network. */
import { contentOf } from './content/content.ts'
import { htmlDocument } from './documents/read.ts'
import { decodeText } from '../render/http/charset.ts'
import { attribute, elementsOf } from '../extract/tree.ts'
import { resolveUrl } from '../extract/urls.ts'

export interface ExtractOptions {
  /** URL of the page, for resolving links; default: its canonical URL. Without either, links stay relative. */
  readonly url?: string
  readonly onlyMain: boolean
  /** Whether to restore a missing headline, and missing parts of reference documentation. */
  readonly headline: boolean
}

/** Returns the Markdown of a page's main content, or of all of it. */
export async function extractMarkdown(bytes: Uint8Array, { url, onlyMain, headline }: ExtractOptions) {
  const { text, charset } = await decodeText(bytes, null, { declares: true })
  const document = htmlDocument(text, charset, url ?? '')
  const canonical = url === undefined ? canonicalOf(document.tree.root) : undefined
  const based = canonical && document.tree.baseUrl === '' ? { ...document, tree: { ...document.tree, baseUrl: canonical } } : document // prettier-ignore
  const { markdown, warning, warningCode } = await contentOf(based, { onlyMain, headline, inlineImages: false })
  return { markdown, ...(warning && { warning }), ...(warningCode && { warning_code: warningCode }) }
}

function canonicalOf(root: Parameters<typeof elementsOf>[0]): string | undefined {
  for (const element of elementsOf(root, ({ tag }) => tag !== 'body')) {
    if (element.tag !== 'link' || attribute(element, 'rel').toLowerCase() !== 'canonical') continue
    const url = resolveUrl(attribute(element, 'href'), 'file:///')
    return url && /^https?:/.test(url) ? url : undefined
  }
  return undefined
}

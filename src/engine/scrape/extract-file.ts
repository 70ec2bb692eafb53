/** HTML as text to Markdown, without a browser and without a network. */
import { contentOf } from './content.ts'
import { htmlDocument } from './documents/read.ts'
import { decodeText } from '../render/charset.ts'
import { attribute, elementsOf } from '../extract/tree.ts'
import { resolveUrl } from '../extract/address.ts'

export interface ExtractWishes {
  /** Where the page comes from, for its links; what the page itself says, when not known. */
  readonly url?: string
  /** What stands in for it when nobody says. */
  readonly fallbackUrl: string
  readonly onlyMain: boolean
  /** Put the page's headline above main content that lacks it, and back what it lacks of a manual. */
  readonly headline: boolean
}

/** The Markdown of a page's main content, or of all of it. */
export async function extractMarkdown(
  bytes: Uint8Array,
  { url, fallbackUrl, onlyMain, headline }: ExtractWishes,
): Promise<{ markdown: string; warning?: string }> {
  const { text, charset } = await decodeText(bytes, null, { declares: true })
  const document = htmlDocument(text, charset, url ?? fallbackUrl)
  const told = url === undefined ? canonicalOf(document.tree.root) : undefined
  const based = told && document.tree.baseUrl === fallbackUrl ? { ...document, tree: { ...document.tree, baseUrl: told } } : document // prettier-ignore
  const { markdown, warning } = await contentOf(based, { onlyMain, headline, inlineImages: false })
  return { markdown, ...(warning && { warning }) }
}

function canonicalOf(root: Parameters<typeof elementsOf>[0]): string | undefined {
  for (const element of elementsOf(root, ({ tag }) => tag !== 'body')) {
    if (element.tag !== 'link' || attribute(element, 'rel').toLowerCase() !== 'canonical') continue
    const url = resolveUrl(attribute(element, 'href'), 'file:///')
    return url && /^https?:/.test(url) ? url : undefined
  }
  return undefined
}

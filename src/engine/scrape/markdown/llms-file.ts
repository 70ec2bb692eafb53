/** Reads llms.txt (llmstxt.org): Markdown with lists of links to the pages of a site. */
import type { LlmsEntry } from '../../../core/shapes/jobs/sources.ts'
import { linksOf } from '../formats/links.ts'
import {
  attribute,
  collapse,
  type ElementNode,
  elementsOf,
  isElement,
  rawText,
  type TreeNode,
  visibleText,
} from '../../extract/tree.ts'
import { resolveUrl } from '../../extract/urls.ts'

/** Returns the links of llms.txt in their order, each once, with the text beside them. */
export async function llmsEntries(text: string, url: string): Promise<LlmsEntry[]> {
  const { markdownDocument } = await import('../documents/markdown-document.ts')
  const { tree } = markdownDocument({ text, charset: 'utf-8', url })
  const described = descriptionsIn(tree.root, tree.baseUrl)
  return linksOf(tree).map(({ href, text: title }) => ({ url: href, title, ...described.get(href) }))
}

function descriptionsIn(root: ElementNode, base: string): Map<string, Pick<LlmsEntry, 'description' | 'section'>> {
  const found = new Map<string, Pick<LlmsEntry, 'description' | 'section'>>()
  let section = ''
  for (const element of elementsOf(root)) {
    if (element.tag === 'h2') section = collapse(rawText(element)).trim()
    if (element.tag !== 'li') continue
    const link = elementsOf(element, ({ tag }) => tag !== 'ul' && tag !== 'ol').find(({ tag }) => tag === 'a')
    const href = link && resolveUrl(attribute(link, 'href'), base)
    if (href === undefined || found.has(href)) continue
    const children = nodesAfter(element, link!)!.filter((child) => !isElement(child) || !/^[uo]l$/.test(child.tag))
    const description = visibleText({ ...element, children }).replace(/^\s*[:–—-]?\s*/, '')
    found.set(href, { ...(description && { description }), ...(section && { section }) })
  }
  return found
}

/** Returns what follows a link within an element; undefined if it is elsewhere. */
function nodesAfter({ children }: ElementNode, link: ElementNode): TreeNode[] | undefined {
  for (const [at, child] of children.entries()) {
    const inside = child === link ? [] : isElement(child) ? nodesAfter(child, link) : undefined
    if (inside) return [...inside, ...children.slice(at + 1)]
  }
  return undefined
}

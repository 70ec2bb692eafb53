/** Converts e-books: their chapters in reading order. */
import { type ElementNode, findElement, isElement, type Tree, type TreeNode } from '../../../extract/tree.ts'
import { elementAround } from '../document.ts'
import { treeFromXml } from '../page-tree.ts'
import type { OfficeContent } from './office-content.ts'
import { OfficeError } from './office-error.ts'
import { all, first, isWebLink, pathIn, requiredXml, textOf } from './office-xml.ts'
import type { ZipArchive } from './zip.ts'

export async function epubContent(zip: ZipArchive): Promise<OfficeContent> {
  const container = await requiredXml(zip, 'META-INF/container.xml')
  const path = first(container, 'rootfile')?.attributes['full-path'] ?? ''
  const book = await requiredXml(zip, path)
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  const files = new Map(
    all(first(book, 'manifest'), 'item').map(({ attributes: { id = '', href = '' } }) => [id, pathIn(folder, href)]),
  )
  const chapters = all(first(book, 'spine'), 'itemref').flatMap(
    ({ attributes }) => files.get(attributes['idref'] ?? '') ?? [],
  )
  const locked = await lockedFiles(zip)
  if (chapters.some((name) => locked.has(name))) throw new OfficeError('locked', 'it is protected by DRM')
  const nodes: TreeNode[] = []
  for (const name of new Set(chapters)) {
    const text = await zip.text(name)
    if (text !== undefined) nodes.push(elementAround('section', chapter(text)))
  }
  if (nodes.length === 0) throw new OfficeError('broken', 'the e-book has no chapters')
  const word = (tag: string) => textOf(first(first(book, 'metadata'), tag)).trim() || undefined
  return {
    nodes,
    title: word('title'),
    author: word('creator'),
    description: word('description')?.replaceAll(/<[^>]*>/g, ''),
    language: word('language'),
    published: word('date'),
  }
}

/** Returns encrypted files; fonts are often encrypted in books that can be read. */
async function lockedFiles(zip: ZipArchive): Promise<Set<string>> {
  if (!zip.has('META-INF/encryption.xml')) return new Set()
  const encryption = await requiredXml(zip, 'META-INF/encryption.xml')
  return new Set(all(encryption, 'CipherReference').map(({ attributes }) => pathIn('', attributes['URI'] ?? '')))
}

const chapter = (text: string): TreeNode[] => contentOfPage(treeFromXml(text, 'about:blank'))

/** Returns the content of a page in an archive. */
export function contentOfPage({ root }: Tree): TreeNode[] {
  return inner(findElement(root, ({ tag }) => tag === 'body') ?? root)
}

const left = new Set(['script', 'style', 'svg', 'iframe', 'object', 'embed', 'form', 'link', 'meta', 'base'])

/** Returns the content without links into the archive; images are replaced by their descriptions. */
function inner(node: ElementNode): TreeNode[] {
  return node.children.flatMap((child): TreeNode[] => {
    if (!isElement(child)) return [child]
    if (left.has(child.tag)) return []
    if (child.tag === 'img') {
      const alt = child.attributes['alt']?.trim()
      return alt ? [{ text: `[${alt}]` }] : []
    }
    const { href } = child.attributes
    if (child.tag === 'a' && (href === undefined || !isWebLink(href))) return inner(child)
    return [{ ...child, children: inner(child) }]
  })
}

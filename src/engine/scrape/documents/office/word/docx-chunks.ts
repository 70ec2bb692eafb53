/** Reads documents inside Word documents (altChunk). */
import { isElement, type TreeNode } from '../../../../extract/tree.ts'
import { decodeText } from '../../../../render/http/charset.ts'
import { elementAround } from '../../document.ts'
import { treeFromPage } from '../../page-tree.ts'
import { contentOfPage } from '../epub.ts'
import { pageOfMhtml } from './mhtml.ts'
import { OfficeError } from '../office-error.ts'
import type { Relations } from '../office-xml.ts'
import { ZipArchive } from '../zip.ts'

export interface Chunk {
  readonly nodes: readonly TreeNode[]
  /** Whether it contains documents that cannot be read. */
  readonly isPartial: boolean
}

/** Returns the documents inside by relationship, without those that cannot be read. */
export async function chunksOf(zip: ZipArchive, relations: Relations): Promise<ReadonlyMap<string, Chunk>> {
  const chunks = new Map<string, Chunk>()
  for (const [id, { target, isExternal, type }] of relations) {
    if (type !== 'aFChunk' || isExternal) continue
    const chunk = await chunkOf(zip, target)
    if (chunk) chunks.set(id, { ...chunk, nodes: chunk.nodes.map((node) => withNotesOf(node, id)) })
  }
  return chunks
}

async function chunkOf(zip: ZipArchive, name: string): Promise<Chunk | undefined> {
  const bytes = await zip.bytes(name)
  if (!bytes) return undefined
  const start = bytes.subarray(0, 1024).toString('latin1')
  if (/^\s*\{\\rtf/.test(start))
    return { nodes: (await (await import('../rtf.ts')).rtfContent(bytes)).nodes, isPartial: false }
  if (start.startsWith('PK')) return zip.isInner ? undefined : innerDocument(zip, bytes)
  const isMhtml = /^(?:mime-version|content-type):/im.test(start) && /\bmultipart\//i.test(start)
  const page = isMhtml ? pageOfMhtml(bytes) : { bytes, contentType: null }
  if (!page) return undefined
  const { text } = await decodeText(page.bytes, page.contentType, { declares: true })
  if (text.includes('\0')) return undefined
  if (/\.txt$/i.test(name)) return { nodes: linesOf(text), isPartial: false }
  return {
    nodes: contentOfPage(treeFromPage(text, 'about:blank', /\.xhtml$/i.test(name) ? 'application/xhtml+xml' : '')),
    isPartial: false,
  }
}

const linesOf = (text: string): TreeNode[] =>
  text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map((line) => elementAround('p', [{ text: line }]))

/** Reads a Word document in another one; not those that it contains itself. */
async function innerDocument(zip: ZipArchive, bytes: Uint8Array): Promise<Chunk | undefined> {
  try {
    const { docxContent } = await import('../docx.ts')
    const { nodes, warning } = await docxContent(await ZipArchive.open(bytes, zip))
    return { nodes, isPartial: warning !== undefined }
  } catch (error) {
    if (error instanceof OfficeError && error.reason !== 'large') return undefined
    throw error
  }
}

/** Renames notes, whose names are unique within a document only. */
function withNotesOf(node: TreeNode, id: string): TreeNode {
  if (!isElement(node)) return node
  const rename = (value: string) => value.replace(/^(#?note-)(?=\d+$)/, `$1${id}-`)
  const { id: own, href } = node.attributes
  const attributes = {
    ...node.attributes,
    ...(own !== undefined && { id: rename(own) }),
    ...(href !== undefined && { href: rename(href) }),
  }
  return { ...node, attributes, children: node.children.map((child) => withNotesOf(child, id)) }
}

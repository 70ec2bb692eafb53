/** Reads office documents, in a worker thread: input and output are plain data. */
import { BaxError } from '../../../../core/errors/errors.ts'
import { limits } from '../../../../core/limits/limits.ts'
import { isElement, type TreeNode } from '../../../extract/tree.ts'
import type { OfficeContent } from './office-content.ts'
import { OfficeError, type OfficeFailureReason } from './office-error.ts'
import { ZipArchive } from './zip.ts'

export interface OfficeFailure {
  readonly reason: OfficeFailureReason
  readonly message: string
}

export async function readOffice(bytes: Uint8Array): Promise<OfficeContent | OfficeFailure> {
  try {
    const content = await contentOf(bytes)
    assertSize(content.nodes)
    return content
  } catch (error) {
    if (error instanceof OfficeError) return { reason: error.reason, message: error.message }
    if (error instanceof BaxError && error.code === 'content_too_large')
      return { reason: 'large', message: error.message }
    // Malformed documents may violate anything that the converters expect.
    return { reason: 'broken', message: (error as Error).message }
  }
}

async function contentOf(bytes: Uint8Array): Promise<OfficeContent> {
  const start = Buffer.from(bytes.subarray(0, 8)).toString('latin1')
  if (/^\s*\{\\rtf/.test(start)) return (await import('./rtf.ts')).rtfContent(bytes)
  // Word, Excel and PowerPoint encrypt their documents inside this container.
  if (start.startsWith('\u00d0\u00cf\u0011\u00e0')) {
    const isLocked = Buffer.from(bytes).includes(Buffer.from('EncryptedPackage', 'utf16le'))
    throw isLocked
      ? new OfficeError('locked', 'it is encrypted')
      : new OfficeError('unsupported', 'it has the format of Office 97')
  }
  if (!start.startsWith('PK')) throw new OfficeError('broken', 'it is no office document')
  const zip = await ZipArchive.open(bytes)
  const type = (await zip.text('mimetype'))?.trim()
  if (type === 'application/epub+zip') return (await import('./epub.ts')).epubContent(zip)
  if (type === 'application/vnd.oasis.opendocument.text') return (await import('./odt.ts')).odtContent(zip)
  const types = (await zip.text('[Content_Types].xml')) ?? ''
  if (types.includes('wordprocessingml') || zip.has('word/document.xml'))
    return (await import('./docx.ts')).docxContent(zip)
  if (types.includes('spreadsheetml') || zip.has('xl/workbook.xml')) return (await import('./xlsx.ts')).xlsxContent(zip)
  if (types.includes('presentationml')) return (await import('./pptx.ts')).pptxContent(zip)
  if (zip.has('META-INF/container.xml')) return (await import('./epub.ts')).epubContent(zip)
  throw new OfficeError('unsupported', 'it is an archive of other files')
}

/** @throws OfficeError `large` for more than a page may have */
function assertSize(nodes: readonly TreeNode[]): void {
  let [elements, chars] = [0, 0]
  const count = (list: readonly TreeNode[]) => {
    for (const node of list) {
      if (isElement(node)) {
        elements++
        count(node.children)
      } else chars += node.text.length
      if (elements > limits.scrape.elements || chars > limits.scrape.bodyBytes)
        throw new OfficeError('large', 'its text exceeds the size limit of a page')
    }
  }
  count(nodes)
}

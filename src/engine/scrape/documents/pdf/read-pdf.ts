/** Reads PDFs, in a worker thread: input and output are plain data. */
import { limits } from '../../../../core/limits/limits.ts'
import type { TreeNode } from '../../../extract/tree.ts'
import { nodesOf } from './content.ts'
import { cmapOptions } from './page/cmaps.ts'
import type { PageContent } from './page/page-content.ts'
import { readPage } from './page/read-page.ts'
import { warningOf } from './warning.ts'

/** Content and metadata of a PDF, as data that can be sent between threads. */
export interface PdfContent {
  readonly nodes: readonly TreeNode[]
  readonly pages: number
  /** Title, author and other metadata by their PDF names; times are dates. */
  readonly info: Readonly<Record<string, unknown>>
  readonly warning?: string
}

/** The reason why a PDF could not be read. */
export interface PdfFailure {
  readonly reason: 'locked' | 'broken' | 'large'
  readonly message: string
}

export async function readPdf(bytes: Uint8Array): Promise<PdfContent | PdfFailure> {
  const { getDocumentProxy, getMeta, getResolvedPDFJS } = await import('unpdf')
  completeBuffers()
  try {
    // Images are not decoded.
    const pdf = await getDocumentProxy(bytes, {
      verbosity: 0,
      maxImageSize: 1,
      fontExtraProperties: true,
      ...cmapOptions,
    })
    try {
      const { OPS: operators } = await getResolvedPDFJS()
      const pages: PageContent[] = []
      let chars = 0
      for (let number = 1; number <= pdf.numPages; number++) {
        const page = await pdf.getPage(number)
        const content = await readPage(pdf, page, operators)
        page.cleanup()
        pages.push(content)
        for (const layer of content.layers) for (const { text } of layer) chars += text.length
        if (chars > limits.scrape.bodyBytes)
          return { reason: 'large', message: 'its text exceeds the size limit of a page' }
      }
      const { info } = await getMeta(pdf, { parseDates: true })
      const plain = Object.entries(info as Record<string, unknown>).filter(([, value]) => isPlain(value))
      const warning = warningOf(pages)
      return {
        nodes: nodesOf(pages),
        pages: pages.length,
        info: Object.fromEntries(plain),
        ...(warning && { warning }),
      }
    } finally {
      await pdf.destroy()
    }
  } catch (error) {
    const { name, message } = error as Error
    return { reason: name === 'PasswordException' ? 'locked' : 'broken', message }
  }
}

/** Adds a function that the parser uses for fonts, and Node 20 lacks. */
function completeBuffers(): void {
  const prototype = ArrayBuffer.prototype as { transferToFixedLength?: (length?: number) => ArrayBuffer }
  prototype.transferToFixedLength ??= function (this: ArrayBuffer, length) {
    return this.slice(0, length)
  }
}

const isPlain = (value: unknown): boolean => typeof value === 'string' || value instanceof Date

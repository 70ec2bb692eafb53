/** Reads the text of PDFs. The library must be supervised: a file of 2 KB may keep it busy for hours. */
import { limits } from '../../../core/limits/limits.ts'

/** Text and metadata of a PDF, as data that can be sent between threads. */
export interface PdfText {
  readonly pages: readonly string[]
  /** Title, author and other metadata by their PDF names; times are dates. */
  readonly info: Readonly<Record<string, unknown>>
}

/** The reason why a PDF could not be read. */
export interface PdfFailure {
  readonly reason: 'locked' | 'broken' | 'large'
  readonly message: string
}

export async function readPdf(bytes: Uint8Array): Promise<PdfText | PdfFailure> {
  const { extractText, getDocumentProxy, getMeta } = await import('unpdf')
  try {
    const pdf = await getDocumentProxy(bytes, { verbosity: 0 })
    try {
      const { text } = await extractText(pdf, { mergePages: false })
      if (text.reduce((sum, { length }) => sum + length, 0) > limits.scrape.bodyBytes)
        return { reason: 'large', message: 'its text exceeds the size limit of a page' }
      const { info } = await getMeta(pdf, { parseDates: true })
      const plain = Object.entries(info as Record<string, unknown>).filter(([, value]) => isPlain(value))
      return { pages: text, info: Object.fromEntries(plain) }
    } finally {
      await pdf.destroy()
    }
  } catch (error) {
    const { name, message } = error as Error
    return { reason: name === 'PasswordException' ? 'locked' : 'broken', message }
  }
}

const isPlain = (value: unknown): boolean => typeof value === 'string' || value instanceof Date

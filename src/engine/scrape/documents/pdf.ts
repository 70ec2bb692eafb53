/** Converts PDFs to documents with the text of their pages. */
import { runInWorker } from '../../../core/process/run-in-worker.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { BodyWork } from '../../render/http/body.ts'
import { readInProcess } from './document-process.ts'
import { element, elementAround, fileName, type PageDocument, present, treeOf } from './document.ts'

/** `bytes`: memory growth of the process allowed per PDF, because decompressed data are not on the heap. */
const { bytes: maxBytes, pollMs } = limits.pdf

const readInThread = runInWorker('pdf-worker.mjs', readPdf, limits.pdf)
const read = readInProcess('pdf', readPdfInThread)

/** Reads a PDF. @throws BaxError `unsupported_content_type` or `content_too_large`, or the reason of the signal */
export async function pdfDocument(bytes: Uint8Array, url: string, work: BodyWork): Promise<PageDocument> {
  const pdf = await read(bytes, work)
  if ('pages' in pdf) return pdfContent(pdf, url)
  if (pdf.reason === 'large') throw tooLarge()
  const why = pdf.reason === 'locked' ? 'the PDF is protected by a password' : 'the PDF cannot be read'
  throw new BaxError('unsupported_content_type', why, {
    cause: new Error(pdf.message),
    details: { content_type: 'application/pdf' },
  })
}

/** Reads a PDF with limits on time, and on memory from the moment when a thread has it. */
export async function readPdfInThread(bytes: Uint8Array, work: BodyWork): Promise<PdfText | PdfFailure> {
  const grown = new AbortController()
  let before = Infinity
  const onStart = () => (before = process.memoryUsage.rss())
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() - before > maxBytes) grown.abort(tooLarge())
  }, pollMs)
  try {
    const signal = AbortSignal.any([work.signal, grown.signal])
    // The parser takes ownership of the memory, and does not accept a Buffer.
    return await readInThread(new Uint8Array(bytes), { ...work, signal, onStart })
  } finally {
    clearInterval(watch)
  }
}

const tooLarge = (): BaxError => new BaxError('content_too_large', 'the PDF is too large to be read')

function pdfContent({ pages, info }: PdfText, url: string): PageDocument {
  const texts = pages.map((page) => page.split('\n').map((line) => line.trimEnd()).join('\n').trim()) // prettier-ignore
  const word = (name: string) => (typeof info[name] === 'string' ? info[name].trim() || undefined : undefined)
  const time = (name: string) => (info[name] instanceof Date ? info[name].toISOString() : undefined)
  const facts = { title: word('Title') ?? fileName(url), description: word('Subject'), author: word('Author'), published: time('CreationDate'), modified: time('ModDate') } // prettier-ignore
  const empty = texts.every((text) => text === '')
  return {
    tree: treeOf(
      url,
      facts.title,
      texts.map((text) => elementAround('section', paragraphs(text))),
    ),
    markdown: empty ? '' : `${texts.join('\n\n---\n\n')}\n`,
    pages: pages.length,
    isPage: false,
    ...present(facts),
    ...(empty && { warning: 'the PDF has no text: its pages are images' }),
  }
}

const paragraphs = (text: string) => text.split(/\n{2,}/).map((part) => element('p', {}, part))

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

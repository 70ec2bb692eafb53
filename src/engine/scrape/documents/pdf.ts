/** Converts PDFs to documents with their headings, paragraphs, lists and tables. */
import { runInWorker } from '../../../core/process/run-in-worker.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { BodyWork } from '../../render/http/body.ts'
import { readInProcess } from './document-process.ts'
import { fileName, type PageDocument, present, treeOf } from './document.ts'
import { type PdfContent, type PdfFailure, readPdf } from './pdf/read-pdf.ts'

/** `bytes`: memory growth of the process allowed per PDF, because decompressed data are not on the heap. */
const { bytes: maxBytes, pollMs } = limits.pdf

const readInThread = runInWorker('pdf-worker.mjs', readPdf, limits.pdf)
const read = readInProcess('pdf', readPdfInThread)

/** Reads a PDF. @throws BaxError `unsupported_content_type` or `content_too_large`, or the reason of the signal */
export async function pdfDocument(bytes: Uint8Array, url: string, work: BodyWork): Promise<PageDocument> {
  const pdf = await read(bytes, work)
  if ('nodes' in pdf) return pdfContent(pdf, url)
  if (pdf.reason === 'large') throw tooLarge()
  const why = pdf.reason === 'locked' ? 'the PDF is protected by a password' : 'the PDF cannot be read'
  throw new BaxError('unsupported_content_type', why, {
    cause: new Error(pdf.message),
    details: { content_type: 'application/pdf' },
  })
}

/** Reads a PDF with limits on time, and on memory from the moment when a thread has it. */
export async function readPdfInThread(bytes: Uint8Array, work: BodyWork): Promise<PdfContent | PdfFailure> {
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

function pdfContent({ nodes, pages, info, warning }: PdfContent, url: string): PageDocument {
  const word = (name: string) => (typeof info[name] === 'string' ? info[name].trim() || undefined : undefined)
  const time = (name: string) => (info[name] instanceof Date ? info[name].toISOString() : undefined)
  const facts = {
    title: word('Title') ?? fileName(url),
    description: word('Subject'),
    author: word('Author'),
    published: time('CreationDate'),
    modified: time('ModDate'),
  }
  return { tree: treeOf(url, facts.title, nodes), pages, isPage: false, ...present({ ...facts, warning }) }
}

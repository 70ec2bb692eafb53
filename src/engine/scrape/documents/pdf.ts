/** PDF: the text of its pages. */
import { aside } from '../../../core/process/run-in-worker.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { type PdfText, readPdf, type Unread } from './pdf-text.ts'
import { element, elementAround, fileName, type PageDocument, treeOf } from './document.ts'

/** How much the process may grow while a PDF is read: no heap counts what it unpacks to. */
const { threads, bytes: mostBytes, lookMs } = limits.pdf

const read = aside('pdf-worker.mjs', readPdf, limits.pdf)

/** @throws BaxError `unsupported_content_type` for a file that is locked or no PDF, `content_too_large` for a bomb; the reason of `signal` */
export async function pdfDocument(bytes: Uint8Array, url: string, signal: AbortSignal): Promise<PageDocument> {
  // The parser keeps the memory that it is given, and takes no Buffer.
  const pdf = await readBounded(new Uint8Array(bytes), signal)
  if ('pages' in pdf) return pdfContent(pdf, url)
  if (pdf.unread === 'large') throw tooLarge()
  const why = pdf.unread === 'locked' ? 'the PDF is protected by a password' : 'the PDF cannot be read'
  throw new BaxError('unsupported_content_type', why, {
    cause: new Error(pdf.message),
    details: { content_type: 'application/pdf' },
  })
}

/** PDFs that are being read, or wait for it, in their order; the first ones are at work. */
const underWay = new Set<AbortController>()

/** In its time, and in bounded memory. */
async function readBounded(bytes: Uint8Array, signal: AbortSignal): Promise<PdfText | Unread> {
  const grown = new AbortController()
  underWay.add(grown)
  const before = process.memoryUsage.rss()
  const watch = setInterval(() => {
    const isAtWork = [...underWay].indexOf(grown) < threads
    if (isAtWork && process.memoryUsage.rss() - before > mostBytes) grown.abort(tooLarge())
  }, lookMs)
  try {
    return await read(bytes, AbortSignal.any([signal, grown.signal]))
  } finally {
    clearInterval(watch)
    underWay.delete(grown)
  }
}

const tooLarge = (): BaxError => new BaxError('content_too_large', 'the PDF unpacks to more than can be read')

function pdfContent({ pages, info }: PdfText, url: string): PageDocument {
  const texts = pages.map((page) => page.split('\n').map((line) => line.trimEnd()).join('\n').trim()) // prettier-ignore
  const word = (name: string) =>
    typeof info[name] === 'string' && info[name].trim() !== '' ? info[name].trim() : undefined
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
    ...Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)),
    ...(empty && { warning: 'the PDF has no text: its pages are pictures' }),
  }
}

const paragraphs = (text: string) => text.split(/\n{2,}/).map((part) => element('p', {}, part))

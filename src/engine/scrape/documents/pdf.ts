/** PDF: the text of its pages. */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { BaxError } from '../../../core/errors.ts'
import { limits } from '../../../core/limits.ts'
import { ThreadPool } from '../../../core/thread-pool.ts'
import { type PdfText, readPdf, type Unread } from './pdf-text.ts'
import { element, fileName, type PageDocument, treeOf } from './document.ts'

/** What a PDF may take of memory, and where it is read. */
const { threads, bytes: mostBytes, heapMb, idleMs, lookMs } = limits.pdf

/** Of the process: the threads end by themselves, and hold up no end of it. */
let pool: ThreadPool<Uint8Array, PdfText | Unread> | undefined

/** @throws BaxError `unsupported_content_type` for a file that is locked or no PDF, `content_too_large` for a bomb; the reason of `signal` */
export async function pdfDocument(bytes: Uint8Array, url: string, signal: AbortSignal): Promise<PageDocument> {
  // The parser keeps the memory that it is given, and takes no Buffer.
  const read = await readAside(new Uint8Array(bytes), signal)
  if ('pages' in read) return pdfContent(read, url)
  const why = read.unread === 'locked' ? 'the PDF is protected by a password' : 'the PDF cannot be read'
  throw new BaxError('unsupported_content_type', why, {
    cause: new Error(read.message),
    details: { content_type: 'application/pdf' },
  })
}

/** In a thread: a file may be made to take hours, and memory that no heap counts. */
async function readAside(bytes: Uint8Array, signal: AbortSignal): Promise<PdfText | Unread> {
  const program = join(import.meta.dirname, 'pdf-worker.mjs')
  // Not built: as tests of single modules run.
  if (!existsSync(program)) return readPdf(bytes)
  pool ??= new ThreadPool({ program, threads: Math.min(threads, availableParallelism()), heapMb, idleMs })
  const grown = new AbortController()
  const before = process.memoryUsage.rss()
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() - before > mostBytes) grown.abort(tooLarge())
  }, lookMs)
  try {
    return await pool.run(bytes, AbortSignal.any([signal, grown.signal]))
  } catch (error) {
    if (error instanceof BaxError && error.code === 'internal_error') throw tooLarge()
    throw error
  } finally {
    clearInterval(watch)
  }
}

const tooLarge = (): BaxError => new BaxError('content_too_large', 'the PDF unpacks to more than can be read')

function pdfContent({ pages, info }: PdfText, url: string): PageDocument {
  const texts = pages.map((page) => page.replaceAll(/[ \t]+$/gm, '').trim())
  const word = (name: string) =>
    typeof info[name] === 'string' && info[name].trim() !== '' ? info[name].trim() : undefined
  const time = (name: string) => (info[name] instanceof Date ? info[name].toISOString() : undefined)
  const facts = { title: word('Title') ?? fileName(url), description: word('Subject'), author: word('Author'), published: time('CreationDate'), modified: time('ModDate') } // prettier-ignore
  const empty = texts.every((text) => text === '')
  return {
    tree: treeOf(url, facts.title, ...texts.map((text) => element('section', {}, ...paragraphs(text)))),
    markdown: empty ? '' : `${texts.join('\n\n---\n\n')}\n`,
    pages: pages.length,
    isPage: false,
    ...Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)),
    ...(empty && { warning: 'the PDF has no text: its pages are pictures' }),
  }
}

const paragraphs = (text: string) => text.split(/\n{2,}/).map((part) => element('p', {}, part))

/** Pages that a worker thread has read, whose documents are parsed in this thread only on use. */
import { decoderFor } from '../render/http/decoder.ts'
import { queryEncoderFor } from '../render/http/query-encoder.ts'
import type { PageDocument, SourceText } from './documents/document.ts'
import { htmlDocumentWith } from './documents/read.ts'
import { textDocument } from './documents/text.ts'
import type { LoadContext } from './load-page.ts'
import type { LoadedPage, PageReading } from './loaded-page.ts'
import type { UnreadPage } from './reading.ts'

/** Reads a rendered page in a worker thread; returns undefined for one to be read in this thread. */
export async function readInWorker(unread: UnreadPage, read: LoadContext['read']): Promise<LoadedPage | undefined> {
  const reading = await read?.(unread)
  return reading && 'page' in reading ? withLazyDocument(unread, reading.page) : undefined
}

/** Adds a document that is parsed on first use, which is rare after a worker thread has read the page. */
export async function withLazyDocument(unread: UnreadPage, reading: PageReading): Promise<LoadedPage> {
  const { source, kind, stays: _stays, ...page } = unread
  const { charset } = reading
  const [decoder, encode] = await Promise.all([decoderFor(charset), queryEncoderFor(charset)])
  const text = () => ('text' in source ? source.text : decoder.decode(source.bytes))
  const { url } = page
  const isPage = kind === 'html'
  let parsed: PageDocument | undefined
  const convert = (own: SourceText) => (isPage ? htmlDocumentWith(own, page.headers, encode) : textDocument(own))
  const parse = () => (parsed ??= convert({ text: text(), charset, url }))
  const document: PageDocument = {
    get tree() {
      return parse().tree
    },
    get raw() {
      return parse().raw!
    },
    charset,
    isPage,
  }
  return { ...page, document, reading }
}

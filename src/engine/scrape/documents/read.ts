/** Converts fetched content to a document. */
import { decodeText } from '../../render/http/charset.ts'
import { type ContentKind, kindOf, mediaType } from '../../render/http/content-kind.ts'
import type { BodyWork } from '../../render/http/body.ts'
import type { FetchedPage } from '../../render/http/fetch.ts'
import type { ResponseHeaders } from '../../render/http/response-headers.ts'
import { treeFromPage } from './page-tree.ts'
import type { PageDocument, SourceText } from './document.ts'

/** Returns the document and the kind of its content. @throws BaxError `unsupported_content_type` */
export async function readDocument(page: FetchedPage, work: BodyWork) {
  const kind = kindOf(page.headers, page.url, page.bytes)
  return { kind, document: await documentOf(kind, page, work) }
}

async function documentOf(kind: ContentKind, { url, headers, bytes }: FetchedPage, work: BodyWork) {
  if (kind === 'pdf') return (await import('./pdf.ts')).pdfDocument(bytes, url, work)
  if (kind === 'office') return (await import('./office-document.ts')).officeDocument(bytes, url, work)
  if (kind === 'image') return (await import('./text.ts')).imageDocument(url)
  const declares = kind === 'html' || kind === 'xml'
  const { text, charset } = await decodeText(bytes, headers.get('content-type'), { declares })
  if (kind === 'html') return htmlDocument({ text, charset, url }, headers)
  if (kind === 'xml') return (await import('./xml.ts')).xmlDocument({ text, charset, url })
  const { csvDocument, jsonDocument, textDocument } = await import('./text.ts')
  if (kind === 'csv') return csvDocument({ text, charset, url })
  return kind === 'json' ? jsonDocument({ text, charset, url }) : textDocument({ text, charset, url })
}

/** Parses HTML or XHTML. */
export const htmlDocument = ({ text, charset, url }: SourceText, headers: ResponseHeaders): PageDocument => ({
  tree: treeFromPage(text, url, mediaType(headers.get('content-type'))),
  raw: text,
  charset,
  isPage: true,
})

/** Converts fetched content to a document. */
import { decodeText } from '../../render/http/charset.ts'
import { type ContentKind, kindOf, mediaType } from '../../render/http/content-kind.ts'
import type { BodyWork } from '../../render/http/body.ts'
import type { FetchedPage } from '../../render/http/fetch.ts'
import { queryEncoderFor } from '../../render/http/query-encoder.ts'
import type { ResponseHeaders } from '../../egress/response-headers.ts'
import type { QueryEncoder } from '../../extract/url-queries.ts'
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
  if (kind === 'markdown') return (await import('./markdown-document.ts')).markdownDocument({ text, charset, url })
  const { csvDocument, jsonDocument, textDocument } = await import('./text.ts')
  if (kind === 'csv') return csvDocument({ text, charset, url })
  return kind === 'json' ? jsonDocument({ text, charset, url }) : textDocument({ text, charset, url })
}

/** Parses HTML or XHTML. */
export const htmlDocument = async (source: SourceText, headers: ResponseHeaders): Promise<PageDocument> =>
  htmlDocumentWith(source, headers, await queryEncoderFor(source.charset))

/** Parses HTML or XHTML, with the encoder for the queries of its URLs. */
export const htmlDocumentWith = (
  { text, charset, url }: SourceText,
  headers: ResponseHeaders,
  encode: QueryEncoder | undefined,
): PageDocument => ({
  tree: treeFromPage(text, url, mediaType(headers.get('content-type')), encode),
  raw: text,
  charset,
  isPage: true,
})

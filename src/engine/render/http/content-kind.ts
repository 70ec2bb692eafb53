/** Detects the kind of a response from its content type, file name and first bytes. */
import type { ResponseHeaders } from '../../egress/response-headers.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { hasXhtmlRoot } from './xhtml.ts'

/** `office`: docx, xlsx, pptx, odt, epub or RTF. */
export type ContentKind = TextKind | 'pdf' | 'office' | 'image'
export type TextKind = 'html' | 'json' | 'text' | 'csv' | 'xml' | 'markdown'

export const isText = (kind: ContentKind): kind is TextKind => kind !== 'pdf' && kind !== 'office' && kind !== 'image'

/** Returns the type of a `Content-Type` header without its parameters, in lower case. */
export const mediaType = (contentType: string | null): string =>
  contentType?.replace(/;.*/s, '').trim().toLowerCase() ?? ''

/** Generic types, which do not identify the content. */
const genericType = /^(?:(?:application|binary)\/octet-stream|application\/(?:force|x)-download|unknown\/unknown)?$/

/** Types of archives, among which are office documents. */
const archiveType = /^application\/(?:zip|x-zip-compressed)$/

const officeType =
  /^(?:application\/(?:vnd\.openxmlformats-officedocument\.(?:wordprocessingml\.document|spreadsheetml\.sheet|presentationml\.(?:presentation|slideshow))|vnd\.oasis\.opendocument\.text|epub\+zip|(?:x-)?rtf)|text\/(?:rtf|richtext))$/

function kindOfType(type: string): ContentKind | undefined {
  if (type === 'text/html' || type === 'application/xhtml+xml' || type === 'application/vnd.wap.xhtml+xml')
    return 'html'
  if (/^(application|text)\/([\w.-]+\+)?(json|x-ndjson|ndjson|json5)$/.test(type)) return 'json'
  if (/^(text\/(csv|tab-separated-values|x-csv)|application\/csv)$/.test(type)) return 'csv'
  if (type === 'image/svg+xml') return 'image'
  if (/^(application|text)\/([\w.-]+\+)?xml$/.test(type)) return 'xml'
  if (type === 'application/pdf' || type === 'application/x-pdf') return 'pdf'
  if (officeType.test(type)) return 'office'
  if (type.startsWith('image/')) return 'image'
  if (/^text\/(?:x-)?markdown$/.test(type)) return 'markdown'
  if (type.startsWith('text/')) return 'text'
  if (/^application\/(javascript|x-javascript|ecmascript|yaml|x-yaml|toml|sql|x-sh|x-tex)$/.test(type)) return 'text'
  return undefined
}

/** Returns the kind by the headers, undefined if unknown. @throws BaxError `unsupported_content_type` */
export function kindOfHeaders(headers: ResponseHeaders): ContentKind | undefined {
  const type = mediaType(headers.get('content-type'))
  const kind = kindOfType(type)
  if (kind === undefined && !genericType.test(type) && !archiveType.test(type)) throw unsupported(type)
  return kind
}

/** Returns the kind of a response. @throws BaxError `unsupported_content_type` */
export function kindOf(headers: ResponseHeaders, url: string, bytes: Uint8Array): ContentKind {
  const declared = kindOfHeaders(headers)
  const type = mediaType(headers.get('content-type'))
  if (declared === 'xml' && isXhtml(bytes)) return 'html'
  if (declared === 'markdown') return isPage(bytes) ? 'html' : 'markdown'
  if (archiveType.test(type) && kindOfBytes(bytes) !== 'office') throw unsupported(type)
  if (declared === undefined || declared === 'text') {
    const detected = kindOfBytes(bytes)
    // Browsers show HTML that is sent as text as text, but detect PDF.
    if (detected && (declared === undefined || detected === 'pdf' || detected === 'office')) return detected
    const named = declared === undefined || type === 'text/plain' ? kindOfName(url) : undefined
    if (named) return named
    if (declared === undefined && bytes.subarray(0, 1024).includes(0)) throw unsupported(type || 'none')
  }
  // A document whose bytes are a page, such as a form to log in.
  if (declared === 'office' && kindOfBytes(bytes) === 'html') return 'html'
  return declared ?? 'text'
}

function kindOfName(url: string): ContentKind | undefined {
  const [, extension] =
    /\.(csv|tsv|json|pdf|docx|xlsx|pptx|ppsx|odt|epub|rtf|md|markdown)$/i.exec(new URL(url).pathname) ?? []
  if (!extension) return undefined
  if (/^[ct]sv$/i.test(extension)) return 'csv'
  if (/^m/i.test(extension)) return 'markdown'
  return /^(?:json|pdf)$/i.test(extension) ? (extension.toLowerCase() as 'json' | 'pdf') : 'office'
}

/** Returns the kind by the first bytes; undefined if they do not tell. */
export function kindOfBytes(bytes: Uint8Array): ContentKind | undefined {
  const text = startOf(bytes, 1024)
  if (text.startsWith('%PDF-')) return 'pdf'
  if (text.startsWith('PK\u0003\u0004') || text.startsWith('{\\rtf')) return 'office'
  if (/^(\u0089PNG|GIF8|\u00ff\u00d8\u00ff|RIFF....WEBP)/s.test(text)) return 'image'
  if (/^\s*(<!--[\s\S]*?-->\s*)*<(!doctype html|html|head|body|title|script|h1|div|p|table|meta)\b/i.test(text))
    return 'html'
  if (/^\s*<\?xml/i.test(text)) return isXhtml(bytes) ? 'html' : 'xml'
  if (/^\s*[[{]/.test(text) && !text.includes('\0')) return 'json'
  return undefined
}

/** Returns the first bytes as text, without a byte order mark. */
const startOf = ({ buffer, byteOffset, length }: Uint8Array, limit: number): string =>
  Buffer.from(buffer, byteOffset, Math.min(length, limit))
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '')

/** Whether text begins as a whole page. Markdown may begin with other elements. */
const isPage = (bytes: Uint8Array): boolean =>
  /^\s*(?:<!--[\s\S]*?-->\s*)*<(?:!doctype html|html)\b/i.test(startOf(bytes, 1024))

/** Whether XML is a page; comments and a document type may precede its root element. */
const isXhtml = (bytes: Uint8Array): boolean => hasXhtmlRoot(startOf(bytes, 16_384))

const unsupported = (type: string): BaxError =>
  new BaxError('unsupported_content_type', `content of type ${type || 'none'} cannot be scraped`, {
    details: { content_type: type },
  })

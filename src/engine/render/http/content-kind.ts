/** What sort of thing an answer is, by its content type, its name and its first bytes. */
import type { AnswerHeaders } from './response-headers.ts'
import { BaxError } from '../../../core/errors/errors.ts'

export type ContentKind = TextKind | 'pdf' | 'image'
export type TextKind = 'html' | 'json' | 'text' | 'csv' | 'xml'

export const isText = (kind: ContentKind): kind is TextKind => kind !== 'pdf' && kind !== 'image'

/** The media type alone, in lower case. */
const mediaType = (contentType: string | null): string => contentType?.split(';')[0]!.trim().toLowerCase() ?? ''

/** Types that say nothing, or are what servers send for everything. */
const vague = new Set([
  '',
  'application/octet-stream',
  'binary/octet-stream',
  'application/force-download',
  'application/x-download',
  'unknown/unknown',
])

function kindOfType(type: string): ContentKind | undefined {
  if (type === 'text/html' || type === 'application/xhtml+xml' || type === 'application/vnd.wap.xhtml+xml')
    return 'html'
  if (/^(application|text)\/([\w.-]+\+)?(json|x-ndjson|ndjson|json5)$/.test(type)) return 'json'
  if (/^(text\/(csv|tab-separated-values|x-csv)|application\/csv)$/.test(type)) return 'csv'
  if (type === 'image/svg+xml') return 'image'
  if (/^(application|text)\/([\w.-]+\+)?xml$/.test(type)) return 'xml'
  if (type === 'application/pdf' || type === 'application/x-pdf') return 'pdf'
  if (type.startsWith('image/')) return 'image'
  if (type.startsWith('text/')) return 'text'
  if (/^application\/(javascript|x-javascript|ecmascript|yaml|x-yaml|toml|sql|x-sh|x-tex|rtf)$/.test(type))
    return 'text'
  return undefined
}

/**
 * The kind that the headers tell; undefined when only the bytes can.
 * @throws BaxError `unsupported_content_type`
 */
export function kindOfHeaders(headers: AnswerHeaders): ContentKind | undefined {
  const type = mediaType(headers.get('content-type'))
  const kind = kindOfType(type)
  if (kind === undefined && !vague.has(type)) throw unsupported(type)
  return kind
}

/** @throws BaxError `unsupported_content_type` */
export function kindOf(headers: AnswerHeaders, url: string, bytes: Uint8Array): ContentKind {
  const told = kindOfHeaders(headers)
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024))
  if (told === undefined || told === 'text') {
    const seen = kindOfBytes(start)
    // A page that is sent as text is shown as text by browsers too; PDF and pictures are not.
    if (seen && (told === undefined || seen === 'pdf')) return seen
    const named =
      told === undefined || mediaType(headers.get('content-type')) === 'text/plain' ? kindOfName(url) : undefined
    if (named) return named
    if (told === undefined && start.includes(0)) throw unsupported(mediaType(headers.get('content-type')) || 'none')
  }
  return told ?? 'text'
}

function kindOfName(url: string): ContentKind | undefined {
  const [, ending] = /\.(csv|tsv|json|pdf)$/i.exec(new URL(url).pathname) ?? []
  if (!ending) return undefined
  return /^[ct]sv$/i.test(ending) ? 'csv' : (ending.toLowerCase() as 'json' | 'pdf')
}

function kindOfBytes(start: Buffer): ContentKind | undefined {
  const text = start.toString('latin1').replace(/^\u00ef\u00bb\u00bf/, '')
  if (text.startsWith('%PDF-')) return 'pdf'
  if (/^(\u0089PNG|GIF8|\u00ff\u00d8\u00ff|RIFF....WEBP)/s.test(text)) return 'image'
  if (/^\s*(<!--[\s\S]*?-->\s*)*<(!doctype html|html|head|body|title|script|h1|div|p|table|meta)\b/i.test(text))
    return 'html'
  if (/^\s*<\?xml/i.test(text)) return 'xml'
  if (/^\s*[[{]/.test(text) && !text.includes('\0')) return 'json'
  return undefined
}

const unsupported = (type: string): BaxError =>
  new BaxError('unsupported_content_type', `content of type ${type || 'none'} cannot be scraped`, {
    details: { content_type: type },
  })

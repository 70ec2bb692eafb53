/** Converts office documents (docx, xlsx, pptx, odt, epub, RTF) in a worker thread of another process. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { runInWorker } from '../../../core/process/run-in-worker.ts'
import type { BodyWork } from '../../render/http/body.ts'
import { readInProcess } from './document-process.ts'
import { fileName, type PageDocument, present, treeOf } from './document.ts'
import type { OfficeContent } from './office/office-content.ts'
import { type OfficeFailure, readOffice } from './office/office.ts'

const readInThread = runInWorker('office-worker.mjs', readOffice, limits.office)
/** The thread takes the bytes, which others may share. */
export const readOfficeInThread: typeof readInThread = (bytes, work) => readInThread(new Uint8Array(bytes), work)
const read = readInProcess('office', readOfficeInThread)

/** @throws BaxError `unsupported_content_type` or `content_too_large`, or the reason of the signal */
export async function officeDocument(bytes: Uint8Array, url: string, work: BodyWork): Promise<PageDocument> {
  const content = await read(bytes, work)
  if ('reason' in content) throw errorOf(content)
  return documentOf(content, url)
}

function documentOf(
  { nodes, title, published, modified, pages, warning, ...facts }: OfficeContent,
  url: string,
): PageDocument {
  const name = title ?? fileName(url)
  const isEmpty = nodes.length === 0
  return {
    tree: treeOf(url, name, nodes),
    isPage: false,
    title: name,
    ...present({ ...facts, published: isoTime(published), modified: isoTime(modified), pages }),
    ...(isEmpty ? { warning: 'the document has no text' } : warning !== undefined && { warning }),
  }
}

function isoTime(text: string | undefined): string | undefined {
  const date = text === undefined ? undefined : new Date(text)
  return date && !Number.isNaN(date.getTime()) ? date.toISOString() : undefined
}

function errorOf({ reason, message }: OfficeFailure): BaxError {
  const details = { cause: new Error(message) }
  if (reason === 'large') return new BaxError('content_too_large', `the document is too large to be read: ${message}`)
  if (reason === 'locked')
    return new BaxError('unsupported_content_type', 'the document is protected by a password', details)
  if (reason === 'unsupported')
    return new BaxError('unsupported_content_type', `the document cannot be read: ${message}`)
  return new BaxError('unsupported_content_type', `the document cannot be read: ${message}`, details)
}

/** Text and base64 of a request as the exact bytes they stand for. */
import { BaxError } from '../../../core/errors/errors.ts'

const base64 = /^[A-Za-z0-9+/]*={0,2}$/

/** @throws BaxError `invalid_request` naming `field` for what would not come out as it was meant. */
export function bytesOf(text: string, encoding: 'utf8' | 'base64', field: string): Buffer {
  if (encoding === 'utf8') {
    const bytes = Buffer.from(text, 'utf8')
    // A lone surrogate has no bytes; Node would write a replacement for it without a word.
    if (loneSurrogate.test(text)) throw fault(field, 'is not well-formed Unicode text')
    return bytes
  }
  if (text.length % 4 !== 0 || !base64.test(text)) throw fault(field, 'is not base64')
  return Buffer.from(text, 'base64')
}

const loneSurrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

const fault = (field: string, message: string) =>
  new BaxError('invalid_request', `${field} ${message}`, { details: [{ path: field, message }] })

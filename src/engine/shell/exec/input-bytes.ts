/** Decodes text and base64 of a request to exact bytes. */
import { BaxError } from '../../../core/errors/errors.ts'

const base64 = /^[A-Za-z0-9+/]*={0,2}$/

/** @throws BaxError `invalid_request` naming `field` if it cannot be decoded exactly. */
export function bytesOf(text: string, encoding: 'utf8' | 'base64', field: string): Buffer {
  if (encoding === 'utf8') {
    const bytes = Buffer.from(text, 'utf8')
    // A lone surrogate has no encoding; Node would silently write a replacement.
    if (loneSurrogate.test(text)) throw invalid(field, 'is not well-formed Unicode text')
    return bytes
  }
  if (text.length % 4 !== 0 || !base64.test(text)) throw invalid(field, 'is not base64')
  return Buffer.from(text, 'base64')
}

const loneSurrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

const invalid = (field: string, message: string) =>
  new BaxError('invalid_request', `${field} ${message}`, { details: [{ path: field, message }] })

import { describe, expect, test } from 'vitest'
import { ResponseHeaders } from '../../../src/engine/egress/response-headers.ts'
import { blockedPatterns } from '../../../src/engine/render/browser/blocked-urls.ts'
import { navigationError } from '../../../src/engine/render/browser/document.ts'
import { decodeText } from '../../../src/engine/render/http/charset.ts'
import { kindOf } from '../../../src/engine/render/http/content-kind.ts'
import { explainFetch, isReset } from '../../../src/engine/egress/fetch-errors.ts'
import { keysOf } from '../../../src/engine/render/browser/keys.ts'
import { scrapeUrl, redirectUrl } from '../../../src/engine/render/http/web-url.ts'

const code = (name: string, message = name) => Object.assign(new Error(message), { code: name })

describe('network errors', () => {
  test.each([
    ['ENOTFOUND', 'dns_failed'],
    ['EAI_AGAIN', 'dns_failed'],
    ['ECONNREFUSED', 'connection_failed'],
    ['HPE_INVALID_CONSTANT', 'connection_failed'],
    ['CERT_HAS_EXPIRED', 'tls_error'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_error'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_error'],
    ['EPROTO', 'tls_error'],
  ])('%s is %s, without the address', (name, expected) => {
    const error = explainFetch(code(name, `connect ${name} 10.0.0.1:80`))
    expect(error.code).toBe(expected)
    expect(error.message).not.toContain('10.0.0.1')
  })

  test('several connection attempts fail with the first error', () => {
    const error = Object.assign(new AggregateError([code('ECONNREFUSED'), code('ENETUNREACH')]), { code: undefined })
    expect(explainFetch(error)).toMatchObject({ code: 'connection_failed', message: 'connection refused' })
  })

  test('only resets are retried', () => {
    expect([isReset(code('ECONNRESET')), isReset(code('ECONNREFUSED')), isReset(code('ENOTFOUND'))]).toEqual([
      true,
      false,
      false,
    ])
  })

  test.each([
    ['net::ERR_NAME_NOT_RESOLVED', 'dns_failed'],
    ['net::ERR_CONNECTION_REFUSED', 'connection_failed'],
    ['net::ERR_CERT_AUTHORITY_INVALID', 'tls_error'],
    ['net::ERR_SSL_PROTOCOL_ERROR', 'tls_error'],
    ['net::ERR_TOO_MANY_REDIRECTS', 'too_many_redirects'],
    ['net::ERR_UNSAFE_PORT', 'url_blocked'],
    ['net::ERR_ABORTED', 'navigation_aborted'],
  ])('in a browser: %s is %s', (text, expected) => expect(navigationError(text).code).toBe(expected))
})

describe('content kinds', () => {
  const kind = (type: string, body = '', url = 'http://x.test/a') =>
    kindOf(new ResponseHeaders(type ? [['Content-Type', type]] : []), url, Buffer.from(body))
  test.each([
    ['text/html; charset=utf-8', '', 'html'],
    ['application/ld+json', '', 'json'],
    ['text/csv', '', 'csv'],
    ['image/svg+xml', '', 'image'],
    ['application/rdf+xml', '', 'xml'],
    ['text/markdown; charset=utf-8', '# A', 'markdown'],
    ['text/x-markdown', '<p align=center>', 'markdown'],
    ['text/markdown', '<!DOCTYPE html><p>', 'html'],
    ['application/javascript', '', 'text'],
    ['', '<!-- x --> <!DOCTYPE html><p>', 'html'],
    ['application/octet-stream', '%PDF-1.7', 'pdf'],
    ['', '{"a":1}', 'json'],
    ['', 'plain words', 'text'],
  ])('%s with %j is %s', (type, body, expected) => expect(kind(type, body)).toBe(expected))

  test('the file name decides for generic types', () => {
    expect(kind('text/plain', 'a,b', 'http://x.test/table.csv')).toBe('csv')
    expect(kind('text/plain', 'a', 'http://x.test/readme')).toBe('text')
    expect(kind('text/plain', '# A', 'http://x.test/README.md?raw')).toBe('markdown')
  })

  test.each(['video/mp4', 'application/zip', 'font/woff2', 'application/wasm'])('%s is refused', (type) => {
    expect(() => kind(type)).toThrow(expect.objectContaining({ code: 'unsupported_content_type' }))
  })
})

describe('encodings', () => {
  const read = (bytes: Uint8Array, type: string | null = null) => decodeText(bytes, type, { declares: true })
  test('undeclared text that is valid UTF-8 is read as UTF-8', async () => {
    expect(await read(Buffer.from('Grüße'))).toEqual({ text: 'Grüße', charset: 'utf-8' })
    expect(await read(Buffer.from('plain'))).toEqual({ text: 'plain', charset: 'windows-1252' })
  })

  test.each([
    ['<!-- ', ' <script> <body -->', 'koi8-r'],
    ['<script>', '"<meta charset=big5>"</script>', 'koi8-r'],
    ['<title>a</title></head><body>', '', 'windows-1252'],
  ])('reads a declaration that comes later in the head, after %s', async (start, end, charset) => {
    const late = Buffer.from(`${start}${'-'.repeat(1500)}${end}<meta charset="koi8-r"><p>é`, 'latin1')
    expect((await read(late)).charset).toBe(charset)
  })

  test('XML can declare its encoding', async () => {
    expect(await read(Buffer.from('<?xml version="1.0" encoding="iso-8859-2"?><a>\u00b1</a>', 'latin1'))).toMatchObject(
      { charset: 'iso-8859-2', text: expect.stringContaining('ą') },
    )
  })

  test('invalid bytes do not fail', async () => {
    expect((await read(Buffer.from([0xff, 0xc0, 0x00]), 'text/html; charset=utf-8')).text).toContain('\uFFFD')
  })
})

describe('URLs', () => {
  test('a redirect without a fragment keeps the previous one', () => {
    expect(redirectUrl('/b', 'http://x.test/a#c')).toBe('http://x.test/b#c')
    expect(redirectUrl('/b#d', 'http://x.test/a#c')).toBe('http://x.test/b#d')
  })
  test('only http and https are scraped', () => {
    expect(scrapeUrl('example.com/a')).toBe('https://example.com/a')
    expect(scrapeUrl('localhost:3000')).toBe('http://localhost:3000/')
    expect(() => scrapeUrl('ws://x.test')).toThrow(expect.objectContaining({ code: 'url_blocked' }))
  })
})

describe('blocked URLs of rendered pages', () => {
  test('contain advertisers of the list', async () => {
    const patterns = await blockedPatterns({ ads: true, heavy: false })
    expect(patterns).toContain('*://*.doubleclick.net/*')
    expect(patterns.length).toBeGreaterThan(500)
    expect(patterns.some((pattern) => /googleapis|jsdelivr|cloudflare\.com|unpkg/.test(pattern))).toBe(false)
  })
  test('are empty with ads on painted pages', async () => {
    expect(await blockedPatterns({ ads: false, heavy: false })).toEqual([])
  })
})

describe('keys', () => {
  test('are found by name, by letter and with modifiers', () => {
    expect(keysOf('Enter')).toMatchObject([{ type: 'keyDown', key: 'Enter', text: '\r' }, { type: 'keyUp' }])
    expect(keysOf('a')[0]).toMatchObject({ type: 'keyDown', code: 'KeyA', text: 'a' })
    expect(keysOf('Control+a')[0]).toMatchObject({ type: 'rawKeyDown', modifiers: 2 })
    expect(keysOf('Shift++')[0]).toMatchObject({ key: '+', modifiers: 8 })
    expect(() => keysOf('Hyper+a')).toThrow('no modifier')
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readForm } from '../../../src/operations/v2/form.ts'

const few = { fileBytes: 1000, fieldBytes: 100, parts: 5 }

async function* chunks(bytes: Buffer, size = bytes.length): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const part = (head: string, content: string) => `Content-Disposition: form-data; ${head}\r\n\r\n${content}`
const file = (content = 'hello', name = 'x.txt') =>
  part(`name="file"; filename="${name}"\r\nContent-Type: text/plain`, content)
const body = (boundary: string, parts: readonly string[]) =>
  Buffer.from(`${parts.map((one) => `--${boundary}\r\n${one}\r\n`).join('')}--${boundary}--\r\n`)
const read = (bytes: Buffer, boundary = 'b', size?: number) =>
  readForm(chunks(bytes, size), `multipart/form-data; boundary=${boundary}`, few)
const failure = (form: Promise<unknown>) =>
  form.then(
    () => 'read',
    ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
  )

const legal = "0123456789abcxyzABCXYZ'()+_,-./:=?"

test('reads forms with boundaries of 1 to 70 characters, in chunks of any size', async () => {
  for (let length = 1; length <= 70; length++) {
    const boundary = Array.from({ length }, (_, at) => legal[(at * 7 + length) % legal.length]).join('')
    const form = await read(
      body(boundary, [part('name="options"', '{"a":1}'), file()]),
      `"${boundary}"`,
      1 + (length % 9),
    )
    expect([length, form.fields.get('options'), Buffer.from(form.file!.bytes).toString()]).toEqual([
      length,
      '{"a":1}',
      'hello',
    ])
  }
})

test('takes the first file and the first value, and skips what surrounds the parts', async () => {
  const parts = [file('one', '報告.txt'), file('two'), part('name="options"', '1'), part('name="options"', '2')]
  const bytes = Buffer.concat([Buffer.from('preamble\r\n'), body('b', parts), Buffer.from('epilogue')])
  const { file: found, fields } = await read(bytes)
  expect(found).toMatchObject({ name: '報告.txt', contentType: 'text/plain' })
  expect(Buffer.from(found!.bytes).toString()).toBe('one')
  expect(fields.get('options')).toBe('1')
  expect((await read(body('b', [file('x', '../../etc/passwd')]))).file!.name).toBe('passwd')
})

describe('rejects', () => {
  const cases: [string, () => Promise<unknown>, RegExp][] = [
    [
      'another content type',
      () => readForm(chunks(body('b', [file()])), 'application/json', few),
      /^unsupported_media_type: /,
    ],
    [
      'an encoded form',
      () => readForm(chunks(Buffer.from('file=x')), 'application/x-www-form-urlencoded', few),
      /^unsupported_media_type: /,
    ],
    [
      'a missing boundary',
      () => readForm(chunks(body('b', [file()])), 'multipart/form-data', few),
      /^unsupported_media_type: /,
    ],
    ['an empty boundary', () => read(body('', [file()]), '""'), /^unsupported_media_type: /],
    ['another boundary', () => read(body('b', [file()]), 'other'), /^unsupported_media_type: /],
    ['an empty body', () => read(Buffer.alloc(0)), /^unsupported_media_type: /],
    ['a large file', () => read(body('b', [file('x'.repeat(1001))]), 'b', 50), /^payload_too_large: the file/],
    [
      'a large field',
      () => read(body('b', [part('name="options"', 'x'.repeat(101))])),
      /^payload_too_large: the field options/,
    ],
    [
      'many parts',
      () =>
        read(
          body(
            'b',
            Array.from({ length: 6 }, () => part('name="x"', '1')),
          ),
        ),
      /^payload_too_large: .*parts/,
    ],
    [
      'a long preamble',
      () => read(Buffer.concat([Buffer.alloc(5000, 'x'), body('b', [file()])]), 'b', 100),
      /^payload_too_large: /,
    ],
  ]
  test.each(cases)('%s', async (_, form, expected) => {
    expect(await failure(form())).toMatch(expected)
  })

  test('a form that ends early, wherever that is', async () => {
    const whole = body('b', [part('name="options"', '{}'), file()])
    for (let end = 0; end < whole.length - 4; end++) {
      expect([end, await failure(read(whole.subarray(0, end)))]).toEqual([
        end,
        expect.stringMatching(/^unsupported_media_type: /),
      ])
    }
  })
})

test('any bytes are read or rejected', async () => {
  const piece = fc.constantFrom(
    '--b',
    '\r\n',
    '--',
    'Content-Disposition: form-data',
    '; name="file"',
    '; filename="x',
    '"',
    ':',
    '\0',
    'é',
    ' ',
    '\n',
    'x',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 9 }), async (pieces, size) => {
      const bytes = Buffer.from(`--b\r\n${pieces.join('')}`)
      expect(await failure(read(bytes, 'b', size))).toMatch(/^(?:read|unsupported_media_type|payload_too_large)/)
    }),
  )
})

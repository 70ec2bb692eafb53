import { Readable } from 'node:stream'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ResponseHeaders } from '../../../src/engine/egress/response-headers.ts'
import { readBody } from '../../../src/engine/render/http/body.ts'

const decode = (bytes: Uint8Array, coding: string) =>
  readBody(
    { status: 200, headers: new ResponseHeaders([['content-encoding', coding]]), body: Readable.from([bytes]) },
    { signal: new AbortController().signal },
  )

const read = async (bytes: Uint8Array, coding: string) => (await decode(bytes, coding)).bytes

const magic = [0x28, 0xb5, 0x2f, 0xfd]
/** Returns a block that repeats one `a`. */
const block = (isLast: boolean) => [((100 << 3) & 0xff) | 2 | Number(isLast), 100 >> 5, 0, 97]
/** Returns a frame of blocks of a hundred letters each, with a window of 2 to the given power. */
const frame = (power: number, blocks: number) =>
  Buffer.from([
    ...magic,
    0,
    (power - 10) << 3,
    ...Array.from({ length: blocks }, (_, at) => block(at === blocks - 1)).flat(),
  ])

test('a zstd body is decompressed frame by frame', async () => {
  const text = Buffer.from(await read(Buffer.concat([frame(17, 2), frame(23, 1)]), 'zstd')).toString()
  expect(text).toBe('a'.repeat(300))
})

test.each([
  ['needs a window larger than in browsers', frame(30, 1)],
  ['has a frame in the middle that does', Buffer.concat([frame(17, 1), frame(30, 1)])],
  ['moves a window for each of very many blocks', frame(23, 5000)],
  ['announces more than is read', Buffer.from([...magic, 0xa0, 0, 0, 0, 0x7f, ...block(true)])],
])('a body of zstd is refused before it is unpacked when it %s', async (_, bytes) => {
  await expect(read(bytes, 'zstd')).rejects.toMatchObject({ code: 'content_too_large' })
})

test('a body with too many encodings is rejected unread', async () => {
  const codings = Array.from({ length: 10_000 }, () => 'gzip').join(', ')
  await expect(read(Buffer.from('x'), codings)).rejects.toMatchObject({ code: 'unsupported_content_type' })
})

test.each([
  ['zlib', deflateSync('<p>Deflated</p>')],
  ['deflate without the header of zlib', deflateRawSync('<p>Deflated</p>')],
  ['gzip', gzipSync('<p>Deflated</p>')],
])('a body of the encoding deflate is read if it is %s', async (_, bytes) => {
  expect(Buffer.from(await read(bytes, 'deflate')).toString()).toBe('<p>Deflated</p>')
})

test('a body of several deflated chunks and encodings is read', async () => {
  const text = Array.from({ length: 20_000 }, (_, at) => `<p>${at * 7919}</p>`).join('')
  const bytes = gzipSync(deflateRawSync(text))
  const body = Readable.from([bytes.subarray(0, 1), bytes.subarray(1, 30_000), bytes.subarray(30_000)])
  const headers = new ResponseHeaders([['content-encoding', 'deflate, gzip']])
  const read = await readBody({ status: 200, headers, body }, { signal: new AbortController().signal })
  expect(Buffer.from(read.bytes).toString()).toBe(text)
})

test('an empty body with the encoding deflate is empty', async () => {
  const headers = new ResponseHeaders([['content-encoding', 'deflate']])
  const body = Readable.from([])
  const { bytes } = await readBody({ status: 200, headers, body }, { signal: new AbortController().signal })
  expect(bytes).toHaveLength(0)
})

test.each(['gzip', 'deflate', 'br', 'zstd'])(
  'an error for a body that is not %s names the encoding',
  async (coding) => {
    await expect(read(Buffer.from('<p>Not compressed</p>'), coding)).rejects.toMatchObject({
      code: 'connection_failed',
      message: `the response cannot be decoded as ${coding}`,
    })
  },
)

test('an error for a body that is damaged in the middle names the encoding', async () => {
  const bytes = brotliCompressSync('<p>Damaged</p>'.repeat(50) + 'end')
  await expect(
    read(
      bytes.map((byte, at) => (at > 4 ? 255 - byte : byte)),
      'br',
    ),
  ).rejects.toThrow('cannot be decoded as br')
})

const long = Array.from({ length: 2000 }, (_, at) => `<p>${at * 7919}</p>`).join('')
const half = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)

test.each([
  ['gzip', half(gzipSync(long))],
  ['deflate', half(deflateSync(long))],
  ['deflate', half(deflateRawSync(long))],
  ['br', half(brotliCompressSync(long))],
  ['gzip, br', brotliCompressSync(half(gzipSync(long)))],
  ['gzip', Buffer.concat([gzipSync('<p>First</p>'), half(gzipSync(long))])],
])('a body in %s that ends early is read as far as it goes, and marked', async (coding, bytes) => {
  const { bytes: read, isCut } = await decode(bytes, coding)
  expect(isCut).toBe(true)
  expect(`<p>First</p>${long}`).toContain(Buffer.from(read).toString())
})

/** Returns a gzip header with an extra field, a name and a comment, as `gzip` writes for files. */
const named = (bytes: Buffer) =>
  Buffer.concat([
    Buffer.from([...bytes.subarray(0, 3), 4 + 8 + 16, ...bytes.subarray(4, 10), 1, 0, 9]),
    Buffer.from('page\0none\0'),
    bytes.subarray(10),
  ])

test.each([
  ['gzip', gzipSync(long).subarray(0, -8)],
  ['gzip', named(gzipSync(long)).subarray(0, -3)],
  ['deflate', deflateSync(long).subarray(0, -4)],
])('a body in %s is complete without its checksum', async (coding, bytes) => {
  const { bytes: read, isCut } = await decode(bytes, coding)
  expect([Buffer.from(read).toString() === long, isCut]).toEqual([true, undefined])
})

test.each(['gzip', 'deflate', 'br'])('a body in %s of which nothing can be decoded is an error', async (coding) => {
  const compress = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }[coding]!
  await expect(decode(compress(long).subarray(0, 2), coding)).rejects.toThrow(`cannot be decoded as ${coding}`)
})

test('encodings below zstd are decoded too', async () => {
  const packed = gzipSync('<p>Twice</p>')
  const raw = (packed.length << 3) | 1
  const bytes = Buffer.concat([Buffer.from([...magic, 0, 7 << 3, raw & 0xff, raw >> 8, 0]), packed])
  expect(Buffer.from(await read(bytes, 'gzip, zstd')).toString()).toBe('<p>Twice</p>')
})

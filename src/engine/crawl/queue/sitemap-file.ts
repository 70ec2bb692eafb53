/** Streams one sitemap in bounded memory: XML or plain text, compressed or not. */
import { pipeline, Readable } from 'node:stream'
import { createBrotliDecompress, createInflateRaw, createUnzip } from 'node:zlib'
import { Parser } from 'htmlparser2'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { codingsIn } from '../../render/http/body.ts'
import { isRawDeflate } from '../../render/http/decompress.ts'
import { charsetOfStart } from '../../render/http/charset.ts'
import { type StreamDecoder, streamDecoderFor } from '../../render/http/decoder.ts'
import { explainFetch } from '../../egress/fetch-errors.ts'
import { type HttpResponse, httpUserAgent, request, type RequestOptions } from '../../egress/http-client.ts'
import { locationOf, redirectUrl } from '../../render/http/web-url.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'

export interface SitemapEntry {
  readonly url: string
  readonly isSitemap: boolean
}

type FetchContext = Pick<RequestOptions, 'egress' | 'signal'>

const maxDepth = 32

/** Yields the entries in chunks. @throws BaxError for failed requests and invalid or too large files */
export async function* readSitemap(address: string, { egress, signal }: FetchContext): AsyncGenerator<SitemapEntry[]> {
  const { answer, url } = await open(address, { egress, signal })
  const found: SitemapEntry[] = []
  const reader = new SitemapReader(url, (entry) => found.push(entry))
  let bytes = 0
  try {
    let decode: StreamDecoder | undefined
    for await (const chunk of withStart(await decodedBody(answer, url))) {
      bytes += chunk.length
      if (bytes > limits.crawl.sitemapBytes)
        throw new BaxError('content_too_large', 'the file is too large for a sitemap')
      decode ??= await streamDecoderFor(await charsetOfStart(chunk, answer.headers.get('content-type')))
      reader.write(decode(chunk))
      if (found.length > 0) yield found.splice(0)
    }
    if (decode) reader.write(decode())
    if (found.length > 0) yield found.splice(0)
    reader.end()
    if (found.length > 0) yield found
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof BaxError) throw error
    const isDamaged = (error as NodeJS.ErrnoException).code?.startsWith('Z_')
    throw explainFetch(error, isDamaged ? 'its compression is damaged' : 'the connection broke during the download')
  } finally {
    answer.body.destroy()
  }
}

const headers = {
  'user-agent': httpUserAgent,
  accept: 'application/xml,text/xml,*/*;q=0.8',
  'accept-encoding': 'gzip, deflate, br',
}

async function open(address: string, context: FetchContext): Promise<{ answer: HttpResponse; url: string }> {
  let url = address
  for (let redirects = 0; redirects <= limits.scrape.redirects; redirects++) {
    const answer = await request(url, { headers, ...context })
    const location = answer.status >= 300 && answer.status < 400 ? locationOf(answer.headers) : undefined
    if (location === undefined && answer.status < 300) return { answer, url }
    answer.body.destroy()
    if (location === undefined) throw new BaxError('navigation_failed', `it responded with ${answer.status}`)
    url = redirectUrl(location, url)
  }
  throw new BaxError('too_many_redirects', 'too many redirects')
}

/** Number of bytes that contain the declaration of the encoding. */
const startBytes = 1024

/** Joins the first chunks, so that the first one has the declaration. */
async function* withStart(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let start: Uint8Array | undefined = new Uint8Array()
  for await (const chunk of chunks) {
    if (start) start = Buffer.concat([start, chunk])
    if (start && start.length < startBytes) continue
    yield start ?? chunk
    start = undefined
  }
  if (start && start.length > 0) yield start
}

/** Decodes the content encodings, then the compression of the file itself. */
async function decodedBody({ headers, body }: HttpResponse, url: string): Promise<AsyncIterable<Uint8Array>> {
  const codings = codingsIn((headers.get('content-encoding') ?? '').toLowerCase())
  let stream = body
  for (const coding of codings.toReversed()) {
    if (coding === 'zstd') throw new BaxError('unsupported_content_type', 'unsupported content encoding zstd')
    if (coding === 'br') stream = through(stream, createBrotliDecompress())
    else stream = through(stream, coding === 'deflate' && (await isRaw(stream)) ? createInflateRaw() : createUnzip())
  }
  if (/\.gz$/i.test(new URL(url).pathname) || /gzip/i.test(headers.get('content-type') ?? '')) return gunzipped(stream)
  return stream
}

/** Whether a stream starts without the header of zlib. */
async function isRaw(stream: Readable): Promise<boolean> {
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    stream.unshift(chunk)
    return isRawDeflate(chunk[0]!)
  }
  return false
}

/** Decompresses a gzip file. Checks the first bytes, as some servers decompress such files but keep their names. */
async function gunzipped(stream: Readable): Promise<AsyncIterable<Uint8Array>> {
  const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  const first = await iterator.next()
  const rest = async function* () {
    if (first.done) return
    yield first.value
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
  }
  const isGzip = !first.done && first.value[0] === 0x1f && first.value[1] === 0x8b
  if (!isGzip) return rest()
  return through(Readable.from(rest(), { objectMode: false }), createUnzip())
}

/** Pipes a stream through a decoder; errors of both surface when the decoder is read. */
const through = (from: Readable, decoder: NodeJS.ReadWriteStream & Readable): Readable => {
  pipeline(from, decoder, () => {})
  return decoder
}

const sitemapRoots: ReadonlySet<string> = new Set(['urlset', 'sitemapindex'])

/** Incremental parser for the URLs in a sitemap. */
export class SitemapReader {
  readonly #base: string
  readonly #onEntry: (entry: SitemapEntry) => void
  readonly #path: string[] = []
  readonly #parser: Parser
  #isText: boolean | undefined
  #text = ''
  /** Name of the outermost element. */
  #root: string | undefined

  constructor(base: string, onEntry: (entry: SitemapEntry) => void) {
    this.#base = base
    this.#onEntry = onEntry
    this.#parser = new Parser(
      {
        onopentag: (name) => this.#open(name),
        ontext: (text) => this.#take(text),
        onclosetag: () => this.#close(),
      },
      { xmlMode: true, decodeEntities: true },
    )
  }

  /** @throws BaxError `unsupported_content_type` for elements that are nested too deeply */
  write(text: string): void {
    if (this.#isText === undefined && text.trim() !== '') this.#isText = !text.trimStart().startsWith('<')
    if (this.#isText) this.#lines(text)
    else this.#parser.write(text)
  }

  /** @throws BaxError `navigation_failed` for XML that is not a sitemap, `connection_failed` if it ends early */
  end(): void {
    if (this.#isText) return this.#lines('\n')
    if (this.#root !== undefined && !sitemapRoots.has(this.#root))
      throw new BaxError('navigation_failed', `it is not a sitemap: its outermost element is <${this.#root}>`)
    if (this.#path.length > 0) throw new BaxError('connection_failed', `it ends inside of <${this.#path.at(-1)}>`)
    this.#parser.end()
  }

  #open(name: string): void {
    if (this.#path.length >= maxDepth)
      throw new BaxError('unsupported_content_type', 'its elements are nested too deeply')
    this.#path.push(name.replace(/^.*:/, '').toLowerCase())
    this.#root ??= this.#path[0]
    this.#text = ''
  }

  #take(text: string): void {
    if (this.#path.at(-1) === 'loc' && this.#text.length <= limits.crawl.addressChars) this.#text += text
  }

  /** Reports a `loc` of a page or sitemap; those of images and videos are in other elements. */
  #close(): void {
    const name = this.#path.pop()
    const within = this.#path.at(-1)
    if (name === 'loc' && (within === 'url' || within === 'sitemap')) this.#found(this.#text, within === 'sitemap')
    this.#text = ''
  }

  #lines(text: string): void {
    const lines = (this.#text + text).split(/\r?\n/)
    this.#text = lines.pop()!.slice(0, 2 * limits.crawl.addressChars)
    for (const line of lines) this.#found(line, false)
  }

  #found(typed: string, isSitemap: boolean): void {
    const address = typed.trim()
    if (address === '' || address.length > limits.crawl.addressChars) return
    const url = parseUrl(address, this.#base)
    if (url) this.#onEntry({ url: url.href, isSitemap })
  }
}

/** Web sites for scraping: pages of every kind, and servers that misbehave, all on 127.0.0.1. */
import type { Duplex } from 'node:stream'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createRawServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Responds with the given type. */
export const respondWith =
  (type: string, body: string | Uint8Array, headers: Record<string, string> = {}, status = 200): Handler =>
  (_, response) => {
    response.writeHead(status, { ...(type && { 'content-type': type }), ...headers })
    response.end(body)
  }

export const redirectTo =
  (location: string, status = 302): Handler =>
  (_, response) => {
    response.writeHead(status, { location })
    response.end()
  }

const sentence = (at: number) =>
  `Rivers carry sand and silt from the mountains to the sea, and paragraph ${at} tells how the delta grows.`

/** An article with the usual boilerplate of a site. */
export const article = `<!doctype html>
<html lang="en"><head><title>How deltas grow</title>
<meta name="description" content="Rivers build land where they meet the sea.">
<meta name="author" content="Ada Rivers"><meta name="robots" content="index,follow">
<meta property="og:title" content="How deltas grow"><meta property="og:image" content="/delta.png">
<meta property="og:site_name" content="River News"><meta property="article:published_time" content="2026-03-01T08:00:00Z">
<link rel="canonical" href="/articles/deltas"><link rel="icon" href="/icon.png">
<style>body { color: #222 }</style></head>
<body><header><nav><a href="/">Home</a> <a href="/about">About</a> <a href="mailto:a@b.test">Mail</a></nav></header>
<main><article><h1>How deltas grow</h1>
<p onclick="evil()">${sentence(1)} See <a href="sediment?x=1#top">sediment</a>.</p>
<p>${sentence(2)}</p><p>${sentence(3)}</p><p>${sentence(4)}</p>
<img src="map.png" alt="A map"><img src="data:image/png;base64,iVBORw0KGgo=" alt="Inline">
<pre><code class="language-js">const delta = 1</code></pre>
<table><tr><th>River</th><th>Length</th></tr><tr><td>Nile</td><td>6650</td></tr></table>
<p>${sentence(5)}</p></article></main>
<footer>All rights reserved <a href="/legal">Legal</a></footer><!-- a comment --><script>var tracked = true</script></body></html>`

/** Starts a server on raw sockets, for responses that no HTTP server would send. */
export async function rawServer(
  answer: (socket: Socket, connection: number) => void,
): Promise<{ url: string; connections: () => number; close(): Promise<void> }> {
  const open = new Set<Socket>()
  let connections = 0
  const server = createRawServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket)).on('error', () => {})
    connections++
    const number = connections
    socket.once('data', () => answer(socket, number))
  })
  const url = `http://127.0.0.1:${await listening(server)}/`
  return { url, connections: () => connections, close: () => closing(server, open) }
}

interface Certificate {
  /** Host name or address of the site. */
  readonly host?: string
  /** Days until it expires; -1 for one that has expired. */
  readonly days?: number
}

/** Creates a self-signed certificate. */
function selfSigned({ host = '127.0.0.1', days = 2 }: Certificate): { key: Buffer; cert: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), 'bax-test-tls-'))
  const openssl = (words: string) => void execFileSync('openssl', words.split(' '), { cwd: folder, stdio: 'ignore' })
  writeFileSync(join(folder, 'names'), `subjectAltName=${/^[\d.]+$/.test(host) ? 'IP' : 'DNS'}:${host}`)
  openssl('ecparam -name prime256v1 -genkey -noout -out key.pem')
  openssl(`req -new -key key.pem -subj /CN=${host} -out request.pem`)
  openssl(`x509 -req -in request.pem -signkey key.pem -days ${days} -extfile names -out cert.pem`)
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(folder, name))) as [Buffer, Buffer]
  rmSync(folder, { recursive: true })
  return { key, cert }
}

/** Starts an HTTPS server with an untrusted certificate. */
export async function untrustedServer(
  handler: Handler = (_, response) => response.end('secret'),
  certificate: Certificate = {},
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createSecureServer(selfSigned(certificate), handler)
  const open = new Set<Duplex>()
  server.on('connection', (socket) => open.add(socket))
  return { url: `https://127.0.0.1:${await listening(server)}/`, close: () => closing(server, open) }
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const closing = (server: Server, open: Set<Duplex>): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    for (const socket of open) socket.destroy()
  })

/** Returns a handwritten PDF with one page per text. */
export const pdfOf = (texts: readonly string[], info = ''): Buffer =>
  pdfFile(
    texts.map((text) => ({ stream: Buffer.from(`BT /F1 18 Tf 72 720 Td (${text}) Tj ET`) })),
    info,
  )

/** Content stream of a PDF page, with its filter. */
interface PdfPage {
  readonly stream: Buffer
  readonly filter?: string
}

export function pdfFile(contents: readonly PdfPage[], info = ''): Buffer {
  const objects: string[] = []
  const add = (body: string) => objects.push(body)
  const pages = contents.map((_, at) => `${4 + 2 * at} 0 R`)
  add('<</Type/Catalog/Pages 2 0 R>>')
  add(`<</Type/Pages/Count ${contents.length}/Kids[${pages.join(' ')}]>>`)
  add('<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>')
  for (const [at, { stream, filter = '' }] of contents.entries()) {
    add(`<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents ${5 + 2 * at} 0 R>>`)
    add(`<</Length ${stream.length}${filter}>>stream\n${stream.toString('latin1')}\nendstream`)
  }
  if (info) add(info)
  let file = '%PDF-1.4\n'
  const offsets = objects.map((body, at) => {
    const offset = file.length
    file += `${at + 1} 0 obj${body}endobj\n`
    return offset
  })
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const trailer = `<</Size ${objects.length + 1}/Root 1 0 R${info ? `/Info ${objects.length} 0 R` : ''}>>`
  return Buffer.from(
    `${file}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer${trailer}\nstartxref\n${file.length}\n%%EOF\n`,
    'latin1',
  )
}

/** Serves the generated site on 127.0.0.1 from a separate process; prints its port. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { assets, dataMs, dataOf, htmlOf, kindOfPage, pageAt, type SitePlan, slowMs } from './site.ts'

const plan = JSON.parse(process.argv[2]!) as SitePlan

/** An image of realistic size, for any name. */
const picture = Buffer.concat([
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
  Buffer.alloc(12 * 1024),
])

const html = { 'content-type': 'text/html; charset=utf-8' }
const kept = { 'cache-control': 'public, max-age=3600' }

const server = createServer((request, response) => {
  const path = new URL(request.url!, 'http://x').pathname
  const asset = assets[path]
  if (asset) return void response.writeHead(200, { 'content-type': asset[0], ...kept }).end(asset[1])
  if (path.startsWith('/assets/map-'))
    return void response.writeHead(200, { 'content-type': 'image/png', ...kept }).end(picture)
  if (path.startsWith('/data/')) return data(response, Number(path.slice('/data/'.length)))
  const at = pageAt(path)
  if (at === undefined || at >= plan.pages) return void response.writeHead(404, html).end('<!doctype html><h1>Nothing')
  page(response, at, path)
})

function data(response: ServerResponse, at: number): void {
  setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end(dataOf(at)), dataMs)
}

function page(response: ServerResponse, at: number, path: string): void {
  const kind = kindOfPage(at, plan)
  if (path.startsWith('/old/')) return void response.writeHead(302, { location: `/page/${at}` }).end()
  const send = () => response.writeHead(kind === 'missing' ? 404 : 200, html).end(htmlOf(at, plan))
  if (kind === 'slow') setTimeout(send, slowMs)
  else send()
}

server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
// Ends with its parent process.
process.stdin.on('end', () => process.exit(0)).resume()

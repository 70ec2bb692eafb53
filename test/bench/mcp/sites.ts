/** Sites of the tasks: DokuWiki and Python's manual from Debian's packages, and a listing of thirty products. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { missingForWiki, startWiki } from '../../support/dokuwiki.ts'
import { serveSite } from '../../support/site.ts'
import { products, type Sites } from './tasks.ts'

const manual = '/usr/share/doc/python3-doc/html'

const listing = `<!doctype html><html lang=en><title>Teas</title><header><nav>${['Home', 'Teas', 'Cups', 'Basket'].map((name) => `<a href="/${name}">${name}</a>`).join(' ')}</nav></header>
<main><h1>Teas</h1><ul>${products.map((name, at) => `<li class=product><a href="/tea/${at}">${name}</a> <b>${at + 1}.50 EUR</b> <p>Mild and fresh, from garden ${at}.</p> <button>Buy</button></li>`).join('')}</ul></main><footer>Terms, privacy, contact</footer>`

export interface OpenSites extends Sites {
  /** Reasons why tasks are skipped. */
  readonly skipped: readonly string[]
  close(): Promise<void>
}

export async function openSites(): Promise<OpenSites> {
  const noWiki = missingForWiki()
  const wiki = noWiki ? undefined : await startWiki()
  const noManual = existsSync(join(manual, 'contents.html')) ? null : 'python3-doc is not installed'
  const files = noManual ? undefined : await serveFolder(manual)
  const shop = await serveSite({ '/': listing })
  return {
    ...(wiki && { wiki }),
    ...(files && { manual: files.url }),
    listing: `${shop.url}/`,
    skipped: [noWiki, noManual].flatMap((reason) => reason ?? []),
    async close() {
      await Promise.all([wiki?.close(), files?.close(), shop.close()])
    },
  }
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.js': 'text/javascript',
}

async function serveFolder(folder: string) {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url!, 'http://x').pathname))
    const body = await readFile(join(folder, path)).catch(() => null)
    if (body === null) return void response.writeHead(404).end()
    response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream')
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise<void>((resolve) => void server.close(() => resolve()).closeAllConnections()),
  }
}

/** Twelve pages of real applications: DokuWiki from Debian, and AG Grid, Monaco and Swagger UI from npm. */
import { createReadStream, existsSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join, normalize } from 'node:path'
import type { Page } from 'playwright'
import { makeOpenapi } from '../../../src/server/openapi/openapi.ts'
import { startWiki } from '../../support/dokuwiki.ts'
import { run } from '../measure.ts'

export interface ApplicationPage {
  readonly name: string
  /** Brings a new page into the state that is compared. */
  open(page: Page): Promise<void>
}

export interface Applications {
  readonly pages: readonly ApplicationPage[]
  close(): Promise<void>
}

const packages = ['ag-grid-community@36.2.0', 'monaco-editor@0.57.0', 'swagger-ui-dist@5.35.0']

const grid = `<!doctype html><meta charset="utf-8"><title>Cars</title><h1>Cars</h1><div id="grid" style="height:560px;width:1100px"></div>
<script src="/ag-grid-community/dist/ag-grid-community.min.js"></script><script>
agGrid.createGrid(document.querySelector('#grid'), {
  columnDefs: [{field: 'make', filter: true}, {field: 'model', editable: true}, {field: 'price', sort: 'asc'}, {field: 'year', filter: 'agNumberColumnFilter'}],
  rowData: Array.from({length: 100}, (_, at) => ({make: ['Toyota', 'Ford', 'Porsche'][at % 3], model: 'Model ' + at, price: 20000 + at * 37, year: 1990 + at % 30})),
  rowSelection: {mode: 'multiRow'}, pagination: true, paginationPageSize: 20,
})</script>`

const editor = `<!doctype html><meta charset="utf-8"><title>Editor</title><h1>Editor</h1><div id="editor" style="height:400px;width:900px"></div><button>Run</button>
<script src="/monaco-editor/min/vs/loader.js"></script><script>
require.config({paths: {vs: '/monaco-editor/min/vs'}})
require(['vs/editor/editor.main'], () => {
  monaco.editor.create(document.querySelector('#editor'), {value: 'function greet(name) {\\n  return "Hello " + name\\n}\\n\\ngreet("world")\\n', language: 'javascript'})
})</script>`

const swagger = `<!doctype html><meta charset="utf-8"><title>API</title><link rel="stylesheet" href="/swagger-ui-dist/swagger-ui.css"><div id="ui"></div>
<script src="/swagger-ui-dist/swagger-ui-bundle.js"></script><script>SwaggerUIBundle({url: '/openapi.json', dom_id: '#ui'})</script>`

export async function startApplications(): Promise<Applications> {
  const folder = await mkdtemp(join(tmpdir(), 'bax-bench-'))
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  await run('npm', ['install', '--prefix', folder, ...quiet, ...packages])
  const site = await serve(join(folder, 'node_modules'), {
    '/grid': grid,
    '/editor': editor,
    '/swagger': swagger,
    '/openapi.json': JSON.stringify(makeOpenapi()),
  })
  const wiki = await startWiki()
  return {
    pages: [...wikiPages(wiki), ...sitePages(site.url)],
    async close() {
      await Promise.all([wiki.close(), site.close()])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function wikiPages({ url, user, password }: { url: string; user: string; password: string }): ApplicationPage[] {
  const logIn = async (page: Page) => {
    await page.goto(`${url}/doku.php?id=start&do=login`)
    await page.fill('input[name=u]', user)
    await page.fill('input[name=p]', password)
    await page.click('#dw__login button[type=submit]')
    await page.waitForLoadState()
  }
  const goTo = (path: string) => async (page: Page) => {
    await logIn(page)
    await page.goto(`${url}/${path}`)
  }
  return [
    { name: 'DokuWiki: syntax', open: async (page) => void (await page.goto(`${url}/doku.php?id=wiki:syntax`)) },
    { name: 'DokuWiki: a new page in the editor', open: goTo('doku.php?id=start&do=edit') },
    { name: 'DokuWiki: administration', open: goTo('doku.php?id=start&do=admin') },
    { name: 'DokuWiki: settings', open: goTo('doku.php?id=start&do=admin&page=config') },
  ]
}

function sitePages(url: string): ApplicationPage[] {
  const open = (path: string, ready: string, then?: (page: Page) => Promise<void>) => async (page: Page) => {
    await page.goto(url + path)
    await page.waitForSelector(ready)
    await then?.(page)
  }
  const operation = '.opblock >> nth=0'
  return [
    { name: 'Swagger UI: all operations', open: open('/swagger', '.opblock') },
    {
      name: 'Swagger UI: one operation',
      open: open('/swagger', '.opblock', async (page) => {
        await page.click(`${operation} >> .opblock-summary-control`)
        await page.click('.try-out__btn')
      }),
    },
    {
      name: 'Swagger UI: the dialog of keys',
      open: open('/swagger', '.opblock', async (page) => {
        await page.click('.btn.authorize')
        await page.waitForSelector('.dialog-ux')
      }),
    },
    { name: 'AG Grid', open: open('/grid', '.ag-cell') },
    {
      name: 'AG Grid: a filter',
      open: open('/grid', '.ag-cell', async (page) => {
        await page.click('.ag-header-cell-filter-button >> nth=0')
        await page.waitForSelector('.ag-filter')
      }),
    },
    {
      name: 'AG Grid: a cell is edited',
      open: open('/grid', '.ag-cell', async (page) => {
        await page.dblclick('.ag-cell[col-id=model] >> nth=0')
        await page.waitForSelector('.ag-cell-inline-editing input')
      }),
    },
    { name: 'Monaco', open: open('/editor', '.view-line span span') },
    {
      name: 'Monaco: find',
      open: open('/editor', '.view-line span span', async (page) => {
        await page.click('.view-lines')
        await page.keyboard.press('Control+f')
        await page.waitForSelector('.find-widget.visible')
      }),
    },
  ]
}

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
}

async function serve(folder: string, pages: Record<string, string>): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url!, 'http://x').pathname)
    const file = join(folder, path)
    const page = pages[path]
    if (page !== undefined) {
      response.setHeader('content-type', types[extname(path) || '.html']!)
      response.end(page)
    } else if (existsSync(file) && statSync(file).isFile()) {
      response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream')
      createReadStream(file).pipe(response)
    } else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

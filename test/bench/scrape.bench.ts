/**
 * Cost of a scrape compared with combinations of other tools, which are installed into a temporary folder. Set
 * BAX_BENCH_PAGES to a folder of `.html` or `.html.gz` files to compare them on these pages, too.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scrapeInput } from '../../src/core/shapes/scrape.ts'
import { extractMarkdown } from '../../src/engine/scrape/extract-file.ts'
import { serveSite } from '../support/site.ts'
import { call, openSides, type Side } from './engines.ts'
import { inTurn, ms, msTitle, ratio, run, type Table } from './measure.ts'
import { installPeers, type Peers } from './scrape/peers.ts'
import { givenPages } from './scrape/given-pages.ts'

const sentence = (at: number) =>
  `Sentence ${at} of this page says what a page says, with a <a href="/topic/${at}">link</a> in it.`
const paragraphs = (count: number) =>
  Array.from({ length: count }, (_, at) => `<p>${`${sentence(at)} `.repeat(4)}</p>`).join('\n')
const around = (title: string, body: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><header><nav>${'<a href="/n">Navigation</a> '.repeat(20)}</nav></header><main><article><h1>${title}</h1>${body}</article></main><footer>${'<a href="/f">Footer</a> '.repeat(20)}</footer></body></html>`
const eight = (line: (at: number) => string) => Array.from({ length: 8 }, (_, at) => line(at)).join('')
// All parts differ: repeated text would be removed as boilerplate.
const section = (at: number) =>
  `<h2>Part ${at}</h2>${paragraphs(6)}<ul>${eight((item) => `<li>Item ${at}.${item} with <b>bold</b> text</li>`)}</ul><pre><code class="language-js">const a = ${at}</code></pre><table><tr><th>Name</th><th>Value</th></tr>${eight((row) => `<tr><td>row ${row} of ${at}</td><td>${at * row}</td></tr>`)}</table>`
const large = (bytes: number) => {
  let body = ''
  for (let at = 0; body.length < bytes; at++) body += section(at)
  return around('A long page', body)
}

const pages = {
  '/static': around('A static page', paragraphs(30)),
  '/data': JSON.stringify(Array.from({ length: 30 }, (_, at) => sentence(at).repeat(4))),
  '/rendered': `<!doctype html><title>A rendered page</title><div id="root"></div><script>fetch('/data').then((r) => r.json()).then((all) => { root.innerHTML = '<main><h1>A rendered page</h1>' + all.map((t) => '<p>' + t + '</p>').join('') + '</main>' })</script>`,
}

export async function measure(): Promise<Table[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bax-bench-'))
  const peers = await installPeers(folder)
  const site = await serveSite(pages)
  const side = await openSides()
  const given = process.env['BAX_BENCH_PAGES']
  try {
    return [
      await staticPage(side, peers, site.url),
      await renderedPage(side, peers, site.url),
      await longPage(peers),
      ...(given === undefined ? [] : [await givenPages(peers, given)]),
      await cold(site.url, folder),
    ]
  } finally {
    await side.close()
    await site.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const scrape = (side: Side, url: string, input: object = {}) =>
  side.engine.extractor.scrape(scrapeInput.parse({ url, ...input }), call)

async function staticPage(side: Side, peers: Peers, url: string): Promise<Table> {
  const html = async () => (await fetch(`${url}/static`)).text()
  const times = await inTurn(
    {
      mdream: async () => peers.mdream(await html()),
      turndown: async () => peers.turndown(await html()),
      readability: async () => peers.readable(await html(), url),
      bax: () => scrape(side, `${url}/static`),
    },
    25,
  )
  const baseline = times['mdream']!
  return {
    title: 'A static page, main content to Markdown, warm',
    columns: [msTitle, 'to fetch + mdream'],
    rows: [
      { name: 'fetch + mdream (native converter, no main content)', cells: [ms(baseline), '1x'] },
      {
        name: 'fetch + Turndown (no main content)',
        cells: [ms(times['turndown']!), ratio(times['turndown']!, baseline)],
      },
      {
        name: 'fetch + Readability + Turndown on linkedom',
        cells: [ms(times['readability']!), ratio(times['readability']!, baseline)],
      },
      { name: '**bax scrape, render auto**', cells: [ms(times['bax']!), ratio(times['bax']!, baseline)] },
    ],
  }
}

async function renderedPage(side: Side, peers: Peers, url: string): Promise<Table> {
  const page = await (await side.playwright.newContext()).newPage()
  const times = await inTurn(
    {
      playwright: async () => {
        await page.goto(`${url}/rendered`, { waitUntil: 'networkidle' })
        return peers.readable(await page.content(), url)
      },
      load: async () => {
        await page.goto(`${url}/rendered`)
        return peers.readable(await page.content(), url)
      },
      bax: () => scrape(side, `${url}/rendered`, { render: 'browser' }),
    },
    15,
  )
  const baseline = times['playwright']!
  return {
    title: 'A page that its script renders, warm',
    columns: [msTitle, 'to Playwright with networkidle'],
    note: 'Playwright reuses one page. Without networkidle the content is not always there: that row is the bound, not an equal.',
    rows: [
      { name: 'Playwright goto (networkidle) + content + Readability + Turndown', cells: [ms(baseline), '1x'] },
      { name: 'the same with goto (load)', cells: [ms(times['load']!), ratio(times['load']!, baseline)] },
      { name: '**bax scrape, render browser**', cells: [ms(times['bax']!), ratio(times['bax']!, baseline, 1)] },
    ],
  }
}

async function longPage(peers: Peers): Promise<Table> {
  const html = large(3_000_000)
  const bytes = Buffer.from(html)
  const options = {
    url: 'https://example.com/long',
    onlyMain: true,
    headline: false,
  }
  const times = await inTurn(
    { readability: async () => peers.readable(html, options.url), bax: () => extractMarkdown(bytes, options) },
    3,
  )
  const words = (text: string) => text.split(/\s+/).length
  const [theirs, ours] = [peers.readable(html, options.url), (await extractMarkdown(bytes, options)).markdown]
  return {
    title: 'A page of 3 MB: main content and Markdown',
    columns: [msTitle, 'to Readability + Turndown', 'words'],
    rows: [
      { name: 'Readability + Turndown on linkedom', cells: [ms(times['readability']!), '1x', String(words(theirs))] },
      {
        name: '**bax extract**',
        cells: [ms(times['bax']!), ratio(times['bax']!, times['readability']!, 0.1), String(words(ours))],
      },
    ],
  }
}

async function cold(url: string, folder: string): Promise<Table> {
  const node = process.execPath
  const state = { BAX_STATE_DIR: join(folder, 'state') }
  const get = `require('node:http').get('${url}/static', (answer) => answer.resume())`
  const times = await inTurn(
    {
      node: () => run(node, ['-e', '0']),
      get: () => run(node, ['-e', get]),
      fetch: () => run(node, ['-e', `fetch('${url}/static').then((answer) => answer.text())`]),
      bax: () => run(node, ['bin/bax.js', 'scrape', `${url}/static`, '--embedded'], state),
      rendered: () => run(node, ['bin/bax.js', 'scrape', `${url}/rendered`, '--embedded'], state),
    },
    15,
  )
  const baseline = times['node']!
  const timingOf = (name: string) => ({ median: times[name]!.median - times['get']!.median + baseline.median })
  return {
    title: 'One scrape from nothing: process, engine, page',
    columns: [msTitle, 'to `node -e 0`', 'without the fetch'],
    note: 'The fetch is what `http.get` adds to an empty node.',
    rows: [
      { name: '`node -e 0`', cells: [ms(baseline), '1x', ''] },
      { name: '`node -e "http.get(…)"`', cells: [ms(times['get']!), ratio(times['get']!, baseline), '1x'] },
      { name: '`node -e "fetch(…)"`', cells: [ms(times['fetch']!), ratio(times['fetch']!, baseline), ''] },
      {
        name: '`bax scrape` of a static page',
        cells: [ms(times['bax']!), ratio(times['bax']!, baseline), ratio(timingOf('bax'), baseline, 4)],
      },
      {
        name: '`bax scrape` of a rendered page',
        cells: [ms(times['rendered']!), ratio(times['rendered']!, baseline), ''],
      },
    ],
  }
}

// Scrapes a local page with the build, to cache V8's code of a plain `bax scrape` (`code-cache.cjs`).
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const { writeCache } = createRequire(import.meta.url)('./code-cache.cjs')

const sentence =
  'Rivers carry sand and <b>silt</b> to the sea, as <a href="/delta">the delta</a> shows, year after year. '
const page = `<!doctype html><html lang="en"><head><title>How deltas grow</title><meta name="description" content="Rivers build land.">
<script type="application/ld+json">{"@type":"Article","headline":"How deltas grow","author":{"name":"Ada"}}</script></head>
<body><header><nav>${'<a href="/n">Navigation</a> '.repeat(8)}</nav></header><main><article><h1>How deltas grow</h1>
${`<p>${sentence.repeat(4)}</p>`.repeat(6)}<h2>Rivers</h2><ul><li>Nile</li><li>Elbe <em>and</em> Oder</li></ul><ol><li>One</li></ol>
<pre><code class="language-js">const delta = 1</code></pre><blockquote><p>A word.</p></blockquote><p><img src="map.png" alt="A map"><code>x</code></p>
<table><tr><th>River</th><th>Length</th></tr><tr><td>Nile</td><td>6650</td></tr></table><dl><dt>Silt</dt><dd>Fine sand</dd></dl>
${`<p>${sentence.repeat(4)}</p>`.repeat(6)}</article></main><aside><h3>Related</h3><a href="/other">Other</a></aside><footer>All rights reserved</footer></body></html>`

/** Writes the caches of the build in `outdir`. */
export async function warm(outdir) {
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(page))
  const folder = await mkdtemp(join(tmpdir(), 'bax-warm-'))
  try {
    await new Promise((resolve, reject) => server.on('error', reject).listen(0, '127.0.0.1', resolve))
    const manifest = JSON.parse(await readFile(join(outdir, 'manifest.json'), 'utf8'))
    const importHere = (name) => import(pathToFileURL(join(outdir, name)).href)
    const url = `http://127.0.0.1:${server.address().port}/`
    await writeCache(outdir, 'quick-scrape.js', importHere, async ({ quickScrape }) => {
      const code = await quickScrape([url, '--embedded', '--state-dir', folder], ioIn(folder), manifest)
      if (code !== 0) throw new Error(`the page that warms the build was not scraped: ${code}`)
    })
  } finally {
    server.close()
    server.closeAllConnections()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns the environment of one command, which leaves nothing behind. */
const ioIn = (folder) => ({
  stdin: { async *[Symbol.asyncIterator]() {} },
  stdout: { write: () => true },
  stderr: { write: () => true },
  env: { BAX_CONFIG: join(folder, 'none.json') },
  cwd: folder,
  signal: new AbortController().signal,
  host: {
    pid: process.pid,
    uid: undefined,
    platform: process.platform,
    nodeVersion: process.version,
    self: [process.execPath],
  },
})

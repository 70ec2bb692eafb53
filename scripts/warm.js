// Runs commands with what was built, so that V8's code of them can be kept (`code-cache.cjs`).
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

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
    await writeFile(join(folder, 'config.json'), '{}')
    await new Promise((resolve, reject) => server.on('error', reject).listen(0, '127.0.0.1', resolve))
    const { load, writeCaches } = createRequire(join(outdir, 'main.js'))('./code-cache.js')
    const { main } = load('program.js')
    const scrape = ['scrape', `http://127.0.0.1:${server.address().port}/`, '--embedded', '--state-dir', folder]
    const absent = ['--server', `unix:${join(folder, 'none')}`]
    const lines = [
      [0, ['--help']],
      [0, scrape],
      [3, ['do', 'get-title', ...absent]],
      [3, ['session', 'list', ...absent]],
    ]
    for (const [expected, argv] of lines) {
      const code = await main(argv, ioIn(folder, join(outdir, 'manifest.json')))
      if (code !== expected)
        throw new Error(`a command that warms the build has failed: bax ${argv.join(' ')}: ${code}`)
    }
    writeCaches()
  } finally {
    server.close()
    server.closeAllConnections()
    await rm(folder, { recursive: true, force: true })
  }
}

/** A world for one command that leaves nothing behind. */
const ioIn = (folder, manifest) => ({
  stdin: { async *[Symbol.asyncIterator]() {} },
  stdout: { write: () => true },
  stderr: { write: () => true },
  env: { BAX_CONFIG: join(folder, 'config.json') },
  cwd: folder,
  signal: new AbortController().signal,
  host: {
    pid: process.pid,
    uid: undefined,
    platform: process.platform,
    nodeVersion: process.version,
    manifest,
    self: [process.execPath],
  },
})

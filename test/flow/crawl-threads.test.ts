/** Long crawls read pages in worker threads: the output is the same as without, and crashing threads are handled. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bax, type BuiltBax, buildBax } from '../support/cli.ts'
import { titled } from '../support/needs.ts'
import { respondWith } from '../support/web.ts'
import { type Site, serveSite } from '../support/site.ts'

const count = 40
const sentence = 'It says at some length what a page of its kind says, with commas, and a full stop at the end.'

const body = (at: number) =>
  `<nav><a href="/">Home</a></nav><main><h1>Page ${at}</h1>${`<p>${sentence}</p>`.repeat(1 + ((at * 37) % 30))}<p>See <a href="../p/${(at * 3) % count}#x">another</a>.</p></main>`
const page = (at: number) =>
  `<!doctype html><html lang="en"><head><title>Page ${at}</title><meta name="description" content="No. ${at}"></head><body>${body(at)}</body></html>`

let site: Site
let built: BuiltBax
let folder: string

beforeAll(async () => {
  const list = Array.from({ length: count }, (_, at) => `<li><a href="/p/${at}">page ${at}</a></li>`).join('')
  site = await serveSite({
    '/': `<!doctype html><title>All</title><main><h1>All pages</h1><p>${sentence}</p><ul>${list}<li><a href="/gone">gone</a></li></ul></main>`,
    ...Object.fromEntries(Array.from({ length: count }, (_, at) => [`/p/${at}`, page(at)])),
    // Content other than HTML in UTF-8.
    '/p/7': (_, response) =>
      response
        .setHeader('content-type', 'text/html; charset=windows-1252')
        .end(Buffer.from(page(7).replaceAll('Page 7', 'Fa\u00e7ade'), 'latin1')),
    '/p/8': (_, response) => response.setHeader('content-type', 'application/json').end('{"river":"Rh\u00f4ne"}'),
    '/p/9': '<!doctype html><meta http-equiv="refresh" content="0; url=/p/10?again">',
    '/p/11': `<!doctype html><title>Framed</title><main><h1>Framed</h1><p>${sentence}</p><iframe src="/frame"></iframe></main>`,
    '/p/12': page(12).replace('<head>', '<head><base href="/p/deep/">'),
    '/p/13': (_, response) => response.writeHead(302, { location: '/p/14?moved' }).end(),
    // Large pages are read in a worker thread, without their frames.
    '/p/15': page(15).replace('</main>', `${`<p>${sentence}</p>`.repeat(6000)}</main>`),
    '/p/16': page(16).replace('</main>', `${`<p>${sentence}</p>`.repeat(6000)}<iframe src="/frame"></iframe></main>`),
    '/p/17': respondWith('text/csv', `River,Length\n${'"Nile, White",6650,\n'.repeat(40_000)}`),
    '/p/18': respondWith(
      'application/json',
      JSON.stringify(Array.from({ length: 30_000 }, (_, at) => ({ river: `No. ${at}` }))),
    ),
    '/p/19': respondWith(
      'application/rss+xml',
      `<rss><channel><title>Feed</title>${'<item><title>One</title><description>&lt;p&gt;Of it&lt;/p&gt;</description></item>'.repeat(8000)}</channel></rss>`,
    ),
    '/frame': `<!doctype html><title>Inside</title><p>What stands in the frame. ${sentence}</p>`,
  })
  built = await buildBax()
  folder = await mkdtemp(join(tmpdir(), 'bax-test-threads-'))
})
afterAll(async () => {
  await site?.close()
  await built?.close()
  await rm(folder, { recursive: true, force: true })
})

const argv = (...flags: string[]) => [
  'crawl',
  `${site.url}/`,
  '--limit',
  '200',
  '--max-depth',
  '3',
  '--render',
  'http',
  '--formats',
  'markdown,html,links',
  '--json',
  ...flags,
]
const options = (name: string) => ({ cwd: folder, env: { BAX_STATE_DIR: join(folder, name) } })

/** Removes values that differ between runs. */
const withoutVolatile = (text: string): unknown =>
  JSON.parse(text, (name, value: unknown) => (/^(?:id|duration_ms)$/.test(name) ? undefined : value))

test('pages are the same as without worker threads', async () => {
  const [threads, one] = [await built.run(argv(), options('a')), await bax(argv(), options('b'))]
  expect([threads.code, threads.stderr]).toEqual([one.code, one.stderr])
  const answer = withoutVolatile(threads.stdout) as {
    url: string
    data: { markdown: string; metadata: { title?: string } }[]
  }
  const same = withoutVolatile(one.stdout) as { url: string }
  expect({ ...answer, url: '' }).toEqual({ ...same, url: '' })
  expect(answer.data.length).toBeGreaterThan(count - 3)
  const texts = answer.data.map(({ markdown }) => markdown).join('\n')
  for (const text of ['Façade', 'Rhône', 'What stands in the frame', '/p/p/36']) expect(texts).toContain(text)
})

const oneCore = availableParallelism() > 1 ? null : 'with one core, crawls use no threads'
test.skipIf(oneCore)(
  titled('pages that crash worker threads are errors with their URLs; the crawl continues', oneCore),
  async () => {
    const worker = join(dirname(built.program), 'reading-worker.mjs')
    await writeFile(
      worker,
      "import { parentPort } from 'node:worker_threads'\nparentPort.on('message', () => process.exit(1))\n",
    )
    const { stdout } = await built.run(argv(), options('c'))
    const { data, errors, total } = JSON.parse(stdout) as {
      data: { metadata: { url: string } }[]
      errors: { url: string; code: string }[]
      total: number
    }
    expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(['worker_lost']))
    // Without the start page, which is one of them, no other page is known.
    expect(data.map(({ metadata }) => new URL(metadata.url).pathname)).toEqual([])
    expect(total).toBe(data.length + errors.length)
  },
)

// Runs the benchmarks in test/bench and prints their tables in Markdown: `npm run bench [-- name…]`.
// Only ratios within one run are comparable; absolute times depend on the machine.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import esbuild from 'esbuild'
import { esbuildInlinePage } from './inline-page.js'

// They make Node start slower, and every ratio to it look better.
for (const name of ['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS']) delete process.env[name]

const root = fileURLToPath(new URL('..', import.meta.url))
const wanted = process.argv.slice(2)
const names = (await readdir(join(root, 'test/bench')))
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.slice(0, -'.bench.ts'.length))
const unknown = wanted.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`no such bench: ${unknown.join(', ')}; there are ${names.join(', ')}\n`)
  process.exit(2)
}

/** Scripts of the engine's worker threads are next to it, like in `dist`. */
const threads = { in: 'src/engine/scrape/reading-worker.ts', out: 'reading-worker' }

// Inside the checkout, so that external packages resolve.
const folder = await mkdtemp(join(root, 'node_modules', '.bax-bench-'))
try {
  process.stdout.write(`Node ${process.version}, ${cpus().length} cores, ${process.platform} ${process.arch}\n`)
  for (const name of wanted.length > 0 ? wanted : names) {
    await esbuild.build({
      absWorkingDir: root,
      entryPoints: [{ in: `test/bench/${name}.bench.ts`, out: name }, threads, ...(await programsOf(name))],
      outdir: folder,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
      plugins: [esbuildInlinePage],
    })
    process.stderr.write(`measuring ${name}\n`)
    const { measure } = await import(pathToFileURL(join(folder, `${name}.mjs`)).href)
    for (const table of await measure()) process.stdout.write(render(table))
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** Bundles programs that a benchmark runs in separate processes: `NAME/x.program.ts` becomes `x.program.mjs`. */
async function programsOf(name) {
  const files = await readdir(join(root, 'test/bench', name)).catch(() => [])
  return files
    .filter((file) => file.endsWith('.program.ts'))
    .map((file) => ({ in: `test/bench/${name}/${file}`, out: file.slice(0, -'.ts'.length) }))
}

function render({ title, columns, rows, note }) {
  const line = (cells) => `| ${cells.join(' | ')} |\n`
  const head = line(['', ...columns]) + line(['---', ...columns.map(() => '---')])
  return `\n### ${title}\n${note ? `${note}\n` : ''}\n${head}${rows.map(({ name, cells }) => line([name, ...cells])).join('')}`
}

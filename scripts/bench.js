// Runs the measurements of test/bench and prints their tables in Markdown: `npm run bench [-- name…]`.
// Ratios within one run are what counts; absolute times are this machine's.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import esbuild from 'esbuild'
import { esbuildInlinePage } from './inline-page.js'

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

// Inside the checkout, so that external packages resolve.
const folder = await mkdtemp(join(root, 'node_modules', '.bax-bench-'))
try {
  process.stdout.write(`Node ${process.version}, ${cpus().length} cores, ${process.platform} ${process.arch}\n`)
  for (const name of wanted.length > 0 ? wanted : names) {
    const outfile = join(folder, `${name}.mjs`)
    await esbuild.build({
      absWorkingDir: root,
      entryPoints: [`test/bench/${name}.bench.ts`],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
      plugins: [esbuildInlinePage],
    })
    process.stderr.write(`measuring ${name}\n`)
    const { measure } = await import(pathToFileURL(outfile).href)
    for (const table of await measure()) process.stdout.write(render(table))
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}

function render({ title, columns, rows, note }) {
  const line = (cells) => `| ${cells.join(' | ')} |\n`
  const head = line(['', ...columns]) + line(['---', ...columns.map(() => '---')])
  return `\n### ${title}\n${note ? `${note}\n` : ''}\n${head}${rows.map(({ name, cells }) => line([name, ...cells])).join('')}`
}

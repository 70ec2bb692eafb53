// Builds src into dist: the program as ES modules that load on demand, and two small CommonJS files: `main.js`, which
// starts every one-liner, and `quick-scrape.js`, which runs a plain `bax scrape`. An ES module adds 4 ms to the start,
// and each built-in that one imports 1-3 more.
import { copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import esbuild from 'esbuild'
import { compileAgents, copyAgents } from './agent.js'
import { esbuildInlinePage } from './inline-page.js'
import { licensesFile, licensesOf } from './licenses.js'
import { warm } from './warm.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Modules that the CommonJS files load on demand, by name. */
const program = {
  program: 'src/cli/program.ts',
  errors: 'src/cli/output/errors.ts',
  chalk: 'chalk',
  manifest: 'src/operations/manifest.ts',
  'extract-worker': 'src/cli/extract/extract-worker.ts',
  'reading-worker': 'src/engine/scrape/reading-worker.ts',
  'pdf-worker': 'src/engine/scrape/documents/pdf-worker.ts',
  'unzstd-worker': 'src/engine/render/http/unzstd-worker.ts',
  // Code that most scrapes do not need.
  'embedded-engine': 'src/cli/engine/embedded-engine.ts',
  'local-engine': 'src/cli/engine/local-engine.ts',
  ora: 'ora',
  renderer: 'src/engine/render/browser/renderer.ts',
  'openai-compatible': 'src/engine/language/openai-compatible.ts',
  json: 'src/engine/scrape/formats/json.ts',
  pdf: 'src/engine/scrape/documents/pdf.ts',
  papaparse: 'papaparse',
  fzstd: 'fzstd',
}

/** The CommonJS files. */
const quick = { main: 'src/main.ts', 'quick-scrape': 'src/cli/parse/quick-scrape.ts' }

/** Data files that are copied. */
const model = 'src/engine/extract/main-content/model.json'

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  metafile: true,
  minifySyntax: true,
  // Their licences are in THIRD_PARTY_LICENSES.
  legalComments: 'none',
  // The encoding sniffer only uses names from this package, whose tables of Asian encodings have 330 kB.
  alias: { '@exodus/bytes/encoding.js': '@exodus/bytes/encoding-lite.js' },
}

/** Builds into `outdir`; returns esbuild's metafile. */
export async function build(outdir = join(root, 'dist')) {
  const fresh = `${outdir}.new-${process.pid}`
  await mkdir(dirname(outdir), { recursive: true })
  await sweep(outdir)
  await mkdir(fresh, { recursive: true })
  try {
    const built = await buildInto(fresh)
    await rm(outdir, { recursive: true, force: true })
    await rename(fresh, outdir)
    return {
      inputs: Object.assign({}, ...built.map(({ metafile }) => metafile.inputs)),
      outputs: Object.assign({}, ...built.map(({ metafile }) => metafile.outputs)),
    }
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}

/** Removes leftovers of killed builds, and old ones with the process ID of this process. */
async function sweep(outdir) {
  const prefix = `${basename(outdir)}.new-`
  const left = (await readdir(dirname(outdir))).filter((name) => name.startsWith(prefix))
  const dead = left.filter((name) => !isBuilding(Number(name.slice(prefix.length))))
  await Promise.all(dead.map((name) => rm(join(dirname(outdir), name), { recursive: true, force: true })))
}

function isBuilding(pid) {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

async function buildInto(outdir) {
  const built = await Promise.all([
    buildProgram(outdir),
    ...Object.entries(quick).map(([name, path]) => buildQuick(outdir, name, path)),
  ])
  const { makeManifest } = await import(pathToFileURL(join(outdir, 'manifest.mjs')).href)
  await writeFile(join(outdir, 'manifest.json'), JSON.stringify(makeManifest()))
  await writeFile(join(outdir, 'package.json'), '{"type":"commonjs"}\n')
  await writeFile(join(outdir, licensesFile), await licensesOf(root, bundledFiles(built)))
  // Copy the compiled agents. Only shell sessions need one, and report a missing one.
  copyAgents(join(outdir, 'agent'))
  await copyFile(join(root, 'scripts/code-cache.cjs'), join(outdir, 'code-cache.js'))
  await copyFile(join(root, model), join(outdir, 'model.json'))
  await warm(outdir)
  return built
}

/** Returns the files that contribute code to the bundle. */
const bundledFiles = (built) =>
  built.flatMap(({ metafile }) =>
    Object.values(metafile.outputs).flatMap(({ inputs }) =>
      Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0),
    ),
  )

const buildProgram = (outdir) =>
  esbuild.build({
    ...common,
    entryPoints: program,
    splitting: true,
    format: 'esm',
    outdir,
    outExtension: { '.js': '.mjs' },
    external: ['playwright', 'playwright-core', 'dockerode'],
    plugins: [esbuildInlinePage, withoutDevtools],
    // React's development build checks components for mistakes, at ten times the cost.
    define: { 'process.env.NODE_ENV': '"production"' },
    // Bundled CommonJS packages call require().
    banner: {
      js: "import{createRequire as __baxRequire}from'node:module';const require=__baxRequire(import.meta.url);",
    },
  })

/** Modules that ink only loads during its own development. */
const withoutDevtools = {
  name: 'without-devtools',
  setup(build) {
    build.onResolve({ filter: /^react-devtools-core$/ }, ({ path }) => ({ path, namespace: 'absent' }))
    build.onLoad({ filter: /.*/, namespace: 'absent' }, () => ({ contents: 'export default {}' }))
  },
}

async function buildQuick(outdir, name, path) {
  const result = await esbuild.build({
    ...common,
    entryPoints: { [name]: path },
    format: 'cjs',
    outdir,
    plugins: [loadOnDemand(path), esbuildInlinePage],
    define: { 'import.meta.filename': '__filename', 'import.meta.dirname': '__dirname' },
  })
  const file = join(outdir, `${name}.js`)
  const code = requireCommonJs(await readFile(file, 'utf8'))
  await writeFile(
    file,
    path === quick.main ? code : code.replaceAll(/\bimport\(("\.\/[\w-]+\.mjs")\)/g, 'importHere($1)'),
  )
  return result
}

/** Uses require where possible: the first `import()` of a process takes 3 ms. */
const requireCommonJs = (code) =>
  code
    .replaceAll(/\bimport\(("node:[\w/]+")\)/g, 'Promise.resolve().then(() => require($1))')
    .replaceAll(/\bimport\(("\.\/[\w-]+\.json")[^)]*\)/g, 'Promise.resolve().then(() => ({ default: require($1) }))')
    .replaceAll(
      /\bimport\("\.\/([\w-]+\.js)"\)/g,
      'Promise.resolve().then(() => require("./code-cache.js").loadCached(__dirname, "$1", (name) => import(name)))',
    )

/** Redirects `import()` in a CommonJS file to separate modules; all others are bundled into the file. */
const loadOnDemand = (entry) => ({
  name: 'load-on-demand',
  setup(build) {
    build.onResolve({ filter: /^[^n]|^n[^o]/ }, ({ path, kind }) => {
      if (kind !== 'dynamic-import') return undefined
      const name = basename(path, '.ts')
      if (Object.hasOwn(quick, name)) return { path: `./${name}.js`, external: true }
      if (name === basename(model)) return { path: `./${name}`, external: true }
      if (Object.hasOwn(program, name)) return { path: `./${name}.mjs`, external: true }
      if (entry === quick.main) throw new Error(`main.js may not load ${path}: it is not among its modules`)
      return undefined
    })
  },
})

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  // `--without-agent`: use what is already compiled. A package is for machines without a compiler, and needs both.
  if (!process.argv.includes('--without-agent')) {
    const missing = await compileAgents()
    if (missing.length > 0 && process.argv.includes('--package'))
      throw new Error(`no compiler for the agent of ${missing.join(' and ')}: see scripts/agent.js`)
  }
  await build()
}

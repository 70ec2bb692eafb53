// Builds src into dist: ES modules (`*.mjs`) that load on demand, and as CommonJS files, which start faster, what nearly
// every command needs: `main.js`, which starts them all, `program.js`, the commands, and `scraper.js`, the scraper of
// `bax scrape` without an engine. The last two are loaded with the code that V8 made of them (`code-cache.cjs`).
import { createHash } from 'node:crypto'
import { copyFile, cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import esbuild from 'esbuild'
import { place } from './checkout-build.js'
import { commandFiles, commandImports } from './command-files.js'
import { esbuildInlinePage, inlinedFiles } from './inline-page.js'
import { licensesFile, licensesOf } from './licenses.js'
import { agent, launcher } from './native.js'
import { warm } from './warm.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/** ES modules that the CommonJS files load on demand, by name. */
const modules = {
  // Commands with a process of their own, which are not part of `program.js`: they run for long, or seldom, or load much.
  ...Object.fromEntries(
    commandFiles.filter(({ isOwnProcess }) => isOwnProcess).map(({ path }) => [basename(path, '.ts'), path]),
  ),
  'command-worker': 'src/main/command-worker.ts',
  inside: 'src/main/inside.ts',
  chalk: 'chalk',
  manifest: 'src/operations/manifest.ts',
  'make-manifest': 'src/cli/parse/make-manifest.ts',
  bax: 'src/main/library.ts',
  'make-declarations': 'src/library/declarations/make-declarations.ts',
  'code-types': 'src/library/declarations/code-types.ts',
  'extract-worker': 'src/cli/extract/extract-worker.ts',
  'extract-page': 'src/cli/extract/extract-page.ts',
  'reading-worker': 'src/engine/scrape/reading-worker.ts',
  'measuring-worker': 'src/engine/browser/shares/measuring-worker.ts',
  'pdf-worker': 'src/engine/scrape/documents/pdf-worker.ts',
  'office-worker': 'src/engine/scrape/documents/office-worker.ts',
  'document-reader': 'src/engine/scrape/documents/document-reader.ts',
  'unzstd-worker': 'src/engine/render/http/unzstd-worker.ts',
  'code-worker': 'src/engine/code/code-worker.ts',
  // Code that most scrapes do not need.
  'embedded-engine': 'src/cli/engine/embedded-engine.ts',
  'local-engine': 'src/cli/engine/local-engine.ts',
  ora: 'ora',
  renderer: 'src/engine/render/browser/renderer.ts',
  'open-identity': 'src/engine/scrape/identity/open-identity.ts',
  'openai-compatible': 'src/engine/language/openai-compatible.ts',
  json: 'src/engine/scrape/formats/json.ts',
  pdf: 'src/engine/scrape/documents/pdf.ts',
  'office-document': 'src/engine/scrape/documents/office-document.ts',
  'markdown-document': 'src/engine/scrape/documents/markdown-document.ts',
  papaparse: 'papaparse',
  'multi-byte': '@exodus/bytes/multi-byte.js',
  chardet: 'chardet',
  fzstd: 'fzstd',
}

/** CommonJS files, by name. */
const files = {
  main: 'src/main.ts',
  program: 'src/cli/program.ts',
  scraper: 'src/cli/engine/embedded-scraper.ts',
  'check-node': 'bin/check-node.js',
}

/** Data files that are copied. */
const model = 'src/engine/extract/main-content/model.json'
const cmaps = 'src/engine/scrape/documents/pdf/page/cmaps.br'
const guide = 'src/guide'
const skill = 'src/skill'

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
  alias: {
    '@exodus/bytes/encoding.js': '@exodus/bytes/encoding-lite.js',
    // Its main file cannot be bundled (https://github.com/microsoft/node-jsonc-parser/issues/57).
    'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
  },
}

/** Builds into `outdir`; returns esbuild's metafile. */
export const build = (outdir) =>
  buildAt(outdir, async (fresh) => {
    await rm(outdir, { recursive: true, force: true })
    await rename(fresh, outdir)
  })

/** Builds in a folder beside `outdir`, which `use` moves to its place. */
async function buildAt(outdir, use) {
  const fresh = `${outdir}.new-${process.pid}`
  await mkdir(dirname(outdir), { recursive: true })
  await sweep(outdir)
  await mkdir(fresh, { recursive: true })
  try {
    const built = await buildInto(fresh)
    await use(fresh)
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
    ...Object.entries(files).map(([name, path]) => buildFile(outdir, name, path)),
  ])
  await checkNodeFirst(join(outdir, 'bax.mjs'))
  const { makeCliManifest } = await import(pathToFileURL(join(outdir, 'make-manifest.mjs')).href)
  await writeFile(join(outdir, 'manifest.json'), JSON.stringify(await makeCliManifest()))
  const { makeDeclarations } = await import(pathToFileURL(join(outdir, 'make-declarations.mjs')).href)
  const declarations = await readFile(join(root, 'src/library/bax.d.ts'), 'utf8')
  await writeFile(join(outdir, 'bax.d.mts'), `${declarations}\n${makeDeclarations()}\n`)
  await writeFile(join(outdir, 'package.json'), '{"type":"commonjs"}\n')
  await writeFile(
    join(outdir, licensesFile),
    await licensesOf(root, [...bundledFiles(built), ...inlinedFiles], { 'cmap-resources': 'BSD-3-Clause' }),
  )
  // Copies the native programs that are compiled. Only shell sessions need an agent, and report a missing one; without a
  // launcher, Node runs every command.
  agent.copy(join(outdir, 'agent'))
  await launcher.compile([process.arch])
  launcher.copy(outdir)
  await copyFile(join(root, 'scripts/code-cache.cjs'), join(outdir, 'code-cache.js'))
  await copyFile(join(root, model), join(outdir, 'model.json'))
  await copyFile(join(root, cmaps), join(outdir, 'cmaps.br'))
  await cp(join(root, guide), join(outdir, 'guide'), { recursive: true })
  await cp(join(root, skill), join(outdir, 'skill'), { recursive: true })
  await warm(outdir)
  await writeFile(join(outdir, 'build-id'), await hashOf(outdir))
  return built
}

/** Lets the library check the version of Node before its other imports, which fail on an older one. */
const checkNodeFirst = async (library) =>
  writeFile(library, `import './check-node.js'\n${await readFile(library, 'utf8')}`)

/** Identifies the build: launchers only use an engine of the same one. */
async function hashOf(outdir) {
  const hash = createHash('sha256')
  for (const name of (await readdir(outdir)).toSorted()) {
    if (/\.(?:m?js|json)$/.test(name)) hash.update(name).update(await readFile(join(outdir, name)))
  }
  return hash.digest('hex').slice(0, 32)
}

/** Files of which some code is in the bundle. */
const bundledFiles = (built) =>
  built.flatMap(({ metafile }) =>
    Object.values(metafile.outputs).flatMap(({ inputs }) =>
      Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0),
    ),
  )

const buildProgram = (outdir) =>
  esbuild.build({
    ...common,
    entryPoints: modules,
    splitting: true,
    format: 'esm',
    outdir,
    outExtension: { '.js': '.mjs' },
    external: ['playwright', 'playwright-core', 'dockerode'],
    plugins: [esbuildInlinePage, commandImports, withoutDevtools],
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

async function buildFile(outdir, name, path) {
  const result = await esbuild.build({
    ...common,
    entryPoints: { [name]: path },
    format: 'cjs',
    outdir,
    plugins: [loadOnDemand, esbuildInlinePage, commandImports],
    define: { 'import.meta.filename': '__filename', 'import.meta.dirname': '__dirname' },
  })
  if (name === 'main') return result
  const file = join(outdir, `${name}.js`)
  const code = await readFile(file, 'utf8')
  await writeFile(file, toAscii(code.replaceAll(/\bimport\(("\.\/[\w-]+\.mjs")\)/g, 'importHere($1)')))
  return result
}

/**
 * Escapes what esbuild leaves: it escapes strings, but not regular expressions (https://esbuild.github.io/api/#charset).
 * `code-cache.cjs` would read their letters as others.
 */
function toAscii(code) {
  const raw = /String\.raw`[^`]*[^\0-\x7f][^`]*`/.exec(code)
  if (raw) throw new Error(`String.raw needs ASCII: ${raw[0].slice(0, 100)}`)
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Built-in modules that take milliseconds to load, and that most commands import without using them. */
const lazyBuiltins = new Set([
  'node:child_process',
  'node:crypto',
  'node:fs/promises',
  'child_process',
  'crypto',
  'fs/promises',
])

/**
 * Resolves `import()` in a CommonJS file: to an ES module beside it, to another CommonJS file, which is loaded from its
 * code cache, or to what can be required, because the first real `import()` of a process takes 3 ms.
 */
const loadOnDemand = {
  name: 'load-on-demand',
  setup(build) {
    build.onResolve({ filter: /.*/ }, ({ path, kind, importer, namespace }) => {
      if (namespace !== 'file') return undefined
      if (kind !== 'dynamic-import') return lazyBuiltins.has(path) ? { path, namespace: 'lazy' } : undefined
      if (path.startsWith('node:')) return { path, namespace: 'required' }
      if (path.endsWith('.json')) return { path: `./${basename(path)}`, namespace: 'required' }
      const source = relative(root, join(dirname(importer), path))
      const file = nameOf(files, source)
      if (file) return { path: `${file}.js`, namespace: 'cached' }
      const module = nameOf(modules, path.startsWith('.') ? source : path)
      return module ? { path: `./${module}.mjs`, external: true } : undefined
    })
    build.onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)})`,
    }))
    build.onLoad({ filter: /.*/, namespace: 'lazy' }, async ({ path }) => {
      const getters = Object.keys(await import(path)).map(
        (name) => `get ${name}() { return require(${JSON.stringify(path)}).${name} }`,
      )
      return { contents: `module.exports = { ${getters.join(',\n')} }` }
    })
    build.onLoad({ filter: /.*/, namespace: 'cached' }, ({ path }) => ({
      contents: `module.exports = require('./code-cache.js').load(${JSON.stringify(path)})`,
    }))
    build.onResolve({ filter: /.*/, namespace: 'required' }, ({ path }) => ({ path, external: true }))
    build.onResolve({ filter: /.*/, namespace: 'cached' }, ({ path }) => ({ path, external: true }))
    build.onResolve({ filter: /.*/, namespace: 'lazy' }, ({ path }) => ({ path, external: true }))
  },
}

const nameOf = (entries, path) => Object.keys(entries).find((name) => entries[name] === path)

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  // `--without-agent`: what is compiled already is enough. The release workflow compiles for both architectures.
  const wanted = process.argv.includes('--without-agent') ? [process.arch] : undefined
  const missing = new Set([...(wanted ? [] : await agent.compile()), ...(await launcher.compile(wanted))])
  if (missing.size > 0 && process.argv.includes('--package'))
    process.stderr.write(
      `warning: the package has no agent and no launcher for ${[...missing].join(' and ')}: no compiler\n`,
    )
  const outdir = join(root, 'dist')
  if (process.argv.includes('--package')) await build(outdir)
  else await buildAt(join(root, '.dist'), (fresh) => place(root, fresh))
}

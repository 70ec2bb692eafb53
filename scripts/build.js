// Builds src into dist: the program in ES modules that load on demand, and beside them `main.js`, the start of
// every one-liner, as one small CommonJS file. An ES module costs a start 4 ms, and each built-in that one imports 1-3 more.
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import esbuild from 'esbuild'
import { esbuildInlinePage } from './inline-page.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/** What main.js loads on demand, by the name of its module. */
const program = {
  program: 'src/cli/program.ts',
  errors: 'src/cli/errors.ts',
  chalk: 'chalk',
  manifest: 'src/operations/manifest.ts',
}

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  metafile: true,
  minifySyntax: true,
  legalComments: 'none',
}

/** Builds into `outdir`; returns esbuild's metafile. */
export async function build(outdir = join(root, 'dist')) {
  const fresh = `${outdir}.new-${process.pid}`
  await rm(fresh, { recursive: true, force: true })
  await mkdir(fresh, { recursive: true })
  const [modules, main] = await Promise.all([buildProgram(fresh), buildMain(fresh)])
  const { makeManifest } = await import(pathToFileURL(join(fresh, 'manifest.mjs')).href)
  await writeFile(join(fresh, 'manifest.json'), JSON.stringify(makeManifest()))
  await writeFile(join(fresh, 'package.json'), '{"type":"commonjs"}\n')
  await rm(outdir, { recursive: true, force: true })
  await rename(fresh, outdir)
  return {
    inputs: { ...modules.metafile.inputs, ...main.metafile.inputs },
    outputs: { ...modules.metafile.outputs, ...main.metafile.outputs },
  }
}

const buildProgram = (outdir) =>
  esbuild.build({
    ...common,
    entryPoints: program,
    splitting: true,
    format: 'esm',
    outdir,
    outExtension: { '.js': '.mjs' },
    external: ['playwright', 'playwright-core', 'dockerode'],
    plugins: [esbuildInlinePage],
    // Bundled CommonJS packages call require().
    banner: {
      js: "import{createRequire as __baxRequire}from'node:module';const require=__baxRequire(import.meta.url);",
    },
  })

const buildMain = (outdir) =>
  esbuild.build({
    ...common,
    entryPoints: { main: 'src/main.ts' },
    format: 'cjs',
    outdir,
    plugins: [loadOnDemand],
    define: { 'import.meta.filename': '__filename', 'import.meta.dirname': '__dirname' },
  })

/** `import()` in main.js leads to the modules beside it. */
const loadOnDemand = {
  name: 'load-on-demand',
  setup(build) {
    build.onResolve({ filter: /^(\.|chalk$)/ }, ({ path, kind }) => {
      if (kind !== 'dynamic-import') return undefined
      const name = basename(path, '.ts')
      if (!Object.hasOwn(program, name)) throw new Error(`main.js may not load ${path}: it is not among its modules`)
      return { path: `./${name}.mjs`, external: true }
    })
  },
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await build()

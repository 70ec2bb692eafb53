// Scripts that run inside a web page: `import script from './overlay.page.ts?inline'` returns the file,
// bundled with its imports, as the text of one self-invoking script. Used by the build and by the tests.
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import esbuild from 'esbuild'

const suffix = '?inline'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Files of the page scripts that were bundled, relative to the project's folder. */
export const inlinedFiles = new Set()

async function bundle(path) {
  const { outputFiles, metafile } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [path],
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    format: 'iife',
    // A page script with `export default function` is called with the arguments of its evaluation.
    globalName: '__bax_module',
    target: 'chrome120',
    legalComments: 'none',
  })
  for (const input of Object.keys(metafile.inputs)) inlinedFiles.add(input)
  return outputFiles[0].text
}

/** The esbuild plugin. */
export const esbuildInlinePage = {
  name: 'inline-page',
  setup(build) {
    build.onResolve({ filter: /\.page\.ts\?inline$/ }, ({ path, importer }) => ({
      path: resolve(dirname(importer), path.slice(0, -suffix.length)),
      namespace: 'inline-page',
    }))
    build.onLoad({ filter: /.*/, namespace: 'inline-page' }, async ({ path }) => ({
      contents: await bundle(path),
      loader: 'text',
      watchFiles: [path],
    }))
  },
}

/** Bundles of the vite plugin, which the projects of the tests share. */
const bundles = new Map()

/** The vite plugin. */
export const viteInlinePage = {
  name: 'inline-page',
  enforce: 'pre',
  async load(id) {
    if (!id.endsWith(`.page.ts${suffix}`)) return null
    const path = id.slice(0, -suffix.length)
    if (!bundles.has(path)) bundles.set(path, bundle(path))
    return `export default ${JSON.stringify(await bundles.get(path))}`
  },
  // A page script may import what was changed.
  watchChange: () => bundles.clear(),
}

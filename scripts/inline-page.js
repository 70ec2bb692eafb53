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

/** The vite plugin. */
export const viteInlinePage = {
  name: 'inline-page',
  enforce: 'pre',
  async load(id) {
    if (!id.endsWith(`.page.ts${suffix}`)) return null
    return `export default ${JSON.stringify(await bundle(id.slice(0, -suffix.length)))}`
  },
}

// Bundles src/main.ts into dist with code splitting, and writes the manifest that one-liners start from.
import { mkdir, rm, writeFile, rename } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { join } from 'node:path'
import esbuild from 'esbuild'
import { esbuildInlinePage } from './inline-page.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Builds into `outdir`; returns esbuild's metafile. */
export async function build(outdir = join(root, 'dist')) {
  const fresh = `${outdir}.new-${process.pid}`
  await rm(fresh, { recursive: true, force: true })
  await mkdir(fresh, { recursive: true })
  const { metafile } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: { main: 'src/main.ts', manifest: 'src/operations/manifest.ts' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    outdir: fresh,
    metafile: true,
    minifySyntax: true,
    legalComments: 'none',
    external: ['playwright', 'playwright-core', 'dockerode'],
    plugins: [esbuildInlinePage],
    // Bundled CommonJS packages call require().
    banner: {
      js: "import{createRequire as __baxRequire}from'node:module';const require=__baxRequire(import.meta.url);",
    },
  })
  const { makeManifest } = await import(pathToFileURL(join(fresh, 'manifest.js')).href)
  await writeFile(join(fresh, 'manifest.json'), JSON.stringify(makeManifest()))
  await rm(outdir, { recursive: true, force: true })
  await rename(fresh, outdir)
  return metafile
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await build()

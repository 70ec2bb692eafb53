// The extractor's own code, bundled so that plain Node can run it: training and use share every feature.
import { fileURLToPath } from 'node:url'
import esbuild from 'esbuild'

const entry = fileURLToPath(new URL('../../src/engine/extract/main-content/training.ts', import.meta.url))

export async function loadExtractor() {
  const { outputFiles } = await esbuild.build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
  })
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`)
}

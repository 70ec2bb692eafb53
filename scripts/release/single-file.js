// Builds one file that contains Node and the program: a single executable application
// (https://nodejs.org/api/single-executable-applications.html). `single-file-entry.cjs` says how it starts.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, copyFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import esbuild from 'esbuild'
import { inject } from 'postject'
import { nodeFor } from './node.js'
import { treeFor } from './tree.js'

/** Bundles the start of the file into `outfile`. */
export const buildEntry = (outfile) =>
  esbuild.build({
    entryPoints: [fileURLToPath(new URL('single-file-entry.cjs', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
  })

/** Builds the file of an architecture from the program in `program`; returns its path. */
export async function buildSingleFile({ program, output, arch, description }) {
  const folder = await mkdtemp(join(tmpdir(), 'bax-single-'))
  try {
    const app = join(folder, 'bax')
    await treeFor(arch, program, app, 'single file')
    await rm(join(app, 'runtime', 'node'))
    // It starts Node, which this file is.
    await rm(join(app, 'dist', `launcher-${arch}`))
    await writeFile(join(app, 'start.cjs'), 'module.exports = (file) => import(file)\n')
    const packed = await pack(app)
    await writeFile(join(folder, 'program'), packed)
    await writeFile(join(folder, 'hash'), createHash('sha256').update(packed).digest('hex').slice(0, 16))
    const config = {
      main: join(folder, 'entry.cjs'),
      output: join(folder, 'blob'),
      disableExperimentalSEAWarning: true,
      assets: { program: join(folder, 'program'), hash: join(folder, 'hash') },
    }
    await buildEntry(config.main)
    await writeFile(join(folder, 'config.json'), JSON.stringify(config))
    // Blobs without code of V8 are the same for all architectures.
    const node = join(await nodeFor(process.arch), 'node')
    await promisify(execFile)(node, ['--experimental-sea-config', join(folder, 'config.json')])
    const file = join(output, `bax-${description.version}-linux-${arch}`)
    await copyFile(join(await nodeFor(arch), 'node'), file)
    await chmod(file, 0o755)
    await inject(file, 'NODE_SEA_BLOB', await readFile(config.output), {
      sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
    })
    return file
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Packs the files of a folder: a line of JSON with their paths, modes and sizes, and then their bytes, compressed. */
async function pack(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((one) => one.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const files = await Promise.all(
    paths.toSorted().map(async (path) => {
      const [{ mode }, bytes] = await Promise.all([stat(path), readFile(path)])
      return { path: relative(folder, path), mode: mode & 0o777, size: bytes.length, bytes }
    }),
  )
  const head = `${JSON.stringify(files.map(({ path, mode, size }) => ({ path, mode, size })))}\n`
  return promisify(brotliCompress)(Buffer.concat([Buffer.from(head), ...files.map(({ bytes }) => bytes)]), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 },
  })
}

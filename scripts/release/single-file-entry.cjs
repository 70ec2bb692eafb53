// Start of the single file: unpacks the program into the cache folder once, and runs it there. Modules, worker threads
// and packages need files. Child processes are this file again, with one of the unpacked files as the first argument.
const { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { homedir } = require('node:os')
const { dirname, join, resolve, sep } = require('node:path')
const { getAsset, getRawAsset } = require('node:sea')
const { brotliDecompressSync } = require('node:zlib')
const { makeFolders } = require('../../src/core/state/folders.ts')

// Child processes may have another working folder.
if (process.env.BAX_CACHE_DIR) process.env.BAX_CACHE_DIR = resolve(process.env.BAX_CACHE_DIR)
/** As `env-paths` and the setting `cache_dir` have it. */
const cache = process.env.BAX_CACHE_DIR || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'bax')
const programs = join(cache, 'program')

function unpackedFolder() {
  const folder = join(programs, getAsset('hash', 'utf8'))
  if (!existsSync(folder)) unpack(folder)
  // Another user could have put other files there.
  if (![0, process.getuid()].includes(statSync(folder).uid)) throw new Error(`${folder} belongs to another user`)
  return folder
}

/** Unpacks beside the folder first: processes that start at the same time never see a part of it. */
function unpack(folder) {
  makeFolders(programs, 0o700)
  const fresh = mkdtempSync(`${folder}.`)
  try {
    const bytes = brotliDecompressSync(getRawAsset('program'))
    const end = bytes.indexOf('\n')
    let at = end + 1
    for (const { path, mode, size } of JSON.parse(bytes.toString('utf8', 0, end))) {
      const file = join(fresh, path)
      makeFolders(dirname(file))
      writeFileSync(file, bytes.subarray(at, at + size), { mode })
      at += size
    }
    chmodSync(fresh, 0o755)
    renameSync(fresh, folder)
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
}

try {
  const folder = unpackedFolder()
  const load = createRequire(join(folder, 'start.cjs'))
  // `process.argv[1]` is how this file was called.
  const [, , first] = process.argv
  if (first?.startsWith(folder + sep) && existsSync(first)) {
    process.argv.splice(1, 1)
    void load('./start.cjs')(first)
  } else {
    process.argv[1] = join(folder, 'dist', 'main.js')
    load('./dist/main.js')
  }
} catch (error) {
  process.stderr.write(
    `error: cannot unpack bax into ${programs}: ${error.message}\nhint: choose another folder with BAX_CACHE_DIR\n`,
  )
  process.exitCode = 3
}

// Caches the code that V8 compiles for a file next to it, so that a start compiles nothing. Node 22 has a similar
// feature (`module.enableCompileCache`), Node 20 does not. Part of main.js at run time, and of the build.
const { existsSync, readFileSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')
const { Script } = require('node:vm')

const parameters = 'exports, require, module, __filename, __dirname, importHere'

/**
 * Returns the exports of a CommonJS file of the build. V8 rejects a cache from another Node version or with other flags,
 * which is harmless. `importHere` replaces `import()`, which cached code does not support.
 */
const loadCached = (folder, name, importHere) => run(folder, name, importHere).exports

/** Writes the cache of a file, with the functions that `use` has called. */
async function writeCache(folder, name, importHere, use) {
  const { script, exports } = run(folder, name, importHere)
  await use(exports)
  writeFileSync(`${join(folder, name)}.cache`, script.createCachedData())
}

function run(folder, name, importHere) {
  const path = join(folder, name)
  const cachedData = existsSync(`${path}.cache`) ? readFileSync(`${path}.cache`) : undefined
  // The build is ASCII, which V8 reads without decoding.
  const source = readFileSync(path, 'latin1')
  const script = new Script(`(function (${parameters}) {${source}\n})`, { filename: path, cachedData })
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(path), module, path, folder, importHere)
  return { script, exports: module.exports }
}

module.exports = { loadCached, writeCache }

// The code that V8 makes of a file, kept beside it: a start that finds it compiles nothing. Node 22 has the like of it
// built in (`module.enableCompileCache`), Node 20 has not. A part of main.js at run time, and of the build.
const { existsSync, readFileSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')
const { Script } = require('node:vm')

const parameters = 'exports, require, module, __filename, __dirname, importHere'

/**
 * The exports of a CommonJS file of the build. A cache of another Node, or of other flags, is refused by V8 and does no
 * harm. `importHere` stands in for `import()`, which cached code has not.
 */
const loadCached = (folder, name, importHere) => run(folder, name, importHere).exports

/** Writes the cache of a file, with the functions that `use` has run. */
async function writeCache(folder, name, importHere, use) {
  const { script, exports } = run(folder, name, importHere)
  await use(exports)
  writeFileSync(`${join(folder, name)}.cache`, script.createCachedData())
}

function run(folder, name, importHere) {
  const path = join(folder, name)
  const cachedData = existsSync(`${path}.cache`) ? readFileSync(`${path}.cache`) : undefined
  // The build writes ASCII; V8 reads that without a detour.
  const source = readFileSync(path, 'latin1')
  const script = new Script(`(function (${parameters}) {${source}\n})`, { filename: path, cachedData })
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(path), module, path, folder, importHere)
  return { script, exports: module.exports }
}

module.exports = { loadCached, writeCache }

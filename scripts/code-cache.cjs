// Loads CommonJS files of the build with the code that V8 made of them: a start that finds it compiles nothing. Node 22
// has the same built in (`module.enableCompileCache`), Node 20 has not. Used by main.js, and by the build.
const { existsSync, readFileSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')
const { Script } = require('node:vm')

// Cached code has no `import()`; the build replaces it by this function.
const importHere = (name) => import(name)
const parameters = 'exports, require, module, __filename, __dirname, importHere'
const scripts = new Map()

/** Returns the exports of a file. V8 ignores a cache of another Node version, or of other flags. */
function load(name) {
  const path = join(__dirname, name)
  const cachedData = existsSync(`${path}.cache`) ? readFileSync(`${path}.cache`) : undefined
  // The build writes ASCII, which V8 reads without conversion.
  const source = readFileSync(path, 'latin1')
  const script = new Script(`(function (${parameters}) {${source}\n})`, { filename: path, cachedData })
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(path), module, path, __dirname, importHere)
  scripts.set(path, script)
  return module.exports
}

/** Writes the caches of the loaded files, with the functions that have run since. */
function writeCaches() {
  for (const [path, script] of scripts) writeFileSync(`${path}.cache`, script.createCachedData())
}

module.exports = { load, writeCaches }

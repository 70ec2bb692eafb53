// Checks whether a source checkout is ready to run. Node built-ins and CommonJS only: every start of bin/bax.js calls it.
const { existsSync, readdirSync, readFileSync, statSync } = require('node:fs')
const { join } = require('node:path')

const root = join(__dirname, '..')
const packagesStamp = join(root, 'node_modules', '.bax-stamp')
const browserStamp = join(root, 'node_modules', '.bax-browsers')
const bundle = join(root, 'dist', 'manifest.json')

/** Key of the installed packages. Uses size and time of the lock file, since reading it would slow down every start. */
function packagesKey() {
  const { mtimeMs, size } = statSync(join(root, 'package-lock.json'))
  return `${process.versions.modules} ${size} ${Math.round(mtimeMs)}`
}

const packagesReady = () => existsSync(packagesStamp) && readFileSync(packagesStamp, 'utf8') === packagesKey()

const browserReady = () => existsSync(browserStamp)

function buildReady() {
  if (!existsSync(bundle)) return false
  const built = statSync(bundle).mtimeMs
  return (
    !isNewer(join(root, 'src'), built) &&
    ['package.json', 'scripts/build.js', 'scripts/licenses.js', 'scripts/warm.js', 'scripts/code-cache.cjs'].every(
      (file) => statSync(join(root, file)).mtimeMs <= built,
    )
  )
}

/** Returns whether the agent of shell sessions is built for this machine's architecture. */
const agentReady = () => existsSync(join(root, 'dist', 'agent', `agent-${process.arch}`))

function isNewer(folder, time) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() ? isNewer(path, time) : statSync(path).mtimeMs > time) return true
  }
  return false
}

const isReady = (browser, agent = false) =>
  packagesReady() && buildReady() && (!browser || browserReady()) && (!agent || agentReady())
module.exports = {
  root,
  packagesStamp,
  browserStamp,
  packagesKey,
  packagesReady,
  browserReady,
  buildReady,
  agentReady,
  isReady,
}

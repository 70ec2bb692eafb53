// Checks whether a source checkout is ready to run. Node built-ins and CommonJS only: every start of bin/bax.js calls it.
const { existsSync, readdirSync, readFileSync, statSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')

const root = join(__dirname, '..')
const lockFile = join(root, 'package-lock.json')
const packagesStamp = join(root, 'node_modules', '.bax-stamp')
const browserStamp = join(root, 'node_modules', '.bax-browsers')
const bundle = join(root, 'dist', 'manifest.json')
/** Exists while `dist` has the packages of an earlier installation. */
const outdatedStamp = join(root, 'node_modules', '.bax-outdated')

/** Size and time of the lock file, since reading it would slow down every start. */
function lockFacts() {
  const { mtimeMs, size } = statSync(lockFile)
  return `${size} ${Math.round(mtimeMs)}`
}

/** Content of the lock file. Its packages contain no code for one version of Node only, but programs for one system. */
function lockHash() {
  const hash = require('node:crypto').createHash('sha256').update(readFileSync(lockFile)).digest('hex')
  return `${process.platform}-${process.arch} ${hash}`
}

/** Text that identifies the installed packages. */
const packagesStampText = () => `${lockFacts()}\n${lockHash()}\n`

function packagesReady() {
  if (!existsSync(packagesStamp)) return false
  const [facts, hash] = readFileSync(packagesStamp, 'utf8').split('\n')
  if (hash?.split(' ')[0] === `${process.platform}-${process.arch}` && facts === lockFacts()) return true
  if (hash !== lockHash()) return false
  // Only its time has changed. Without the new one, the next start reads the file again.
  try {
    writeFileSync(packagesStamp, packagesStampText())
  } catch (error) {
    if (!['EROFS', 'EACCES', 'EPERM'].includes(error.code)) throw error
  }
  return true
}

const browserReady = () => existsSync(browserStamp)

function buildReady() {
  if (!existsSync(bundle) || existsSync(outdatedStamp)) return false
  const built = statSync(bundle).mtimeMs
  return (
    !isNewer(join(root, 'src'), built) &&
    [
      'package.json',
      'scripts/build.js',
      'scripts/checkout-build.js',
      'scripts/link-tree.js',
      'scripts/licenses.js',
      'scripts/warm.js',
      'scripts/code-cache.cjs',
    ].every((file) => statSync(join(root, file)).mtimeMs <= built)
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
  outdatedStamp,
  packagesStampText,
  packagesReady,
  browserReady,
  buildReady,
  agentReady,
  isReady,
}

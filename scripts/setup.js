// Prepares a source checkout: packages, build, browsers, and for tests Docker and the programs that they use. Node
// built-ins only, because it runs before anything is installed. Costs only a few file stats if nothing is missing,
// because every start of bin/bax.js calls it.
import { rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { takeLock } from './checkout-lock.js'

const require = createRequire(import.meta.url)
const {
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
} = require('./ready.cjs')

const say = (line) => process.stderr.write(`bax setup: ${line}\n`)

/**
 * Updates packages, build and (on request) browsers, the agent of shell sessions, Docker with its images, and programs
 * for tests. Throws an Error with one sentence if it fails; missing parts of the last two are only reported.
 */
export async function ensureReady({ browser = false, agent = false, docker = false, tests = false } = {}) {
  require('../bin/check-node.js')
  if (!docker && !tests && isReady(browser, agent)) return
  const lock = await takeLock(root, 'setup', () => say('waiting for another set-up to finish'))
  try {
    // Another first run may have done this meanwhile.
    if (!packagesReady()) await installPackages(lock)
    if (!buildReady()) await build(lock)
    if (browser && !browserReady()) await setUpBrowser()
    if (!docker && !agentReady()) await setUpAgent(agent)
    if (tests) await (await import('./test-packages.js')).setUpTestPackages({ say, run })
    if (docker) await (await import('./docker.js')).setUpDocker({ say, run, root })
  } finally {
    lock.release()
  }
}

async function installPackages(lock) {
  say('installing packages (once)')
  const flags = ['--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  // `npm ci` rejects a lock file that lacks another platform's optional package; `npm install` fixes it.
  const npm = (verb) => run('npm', [verb, ...flags], {}, lock.inherited)
  if ((await npm('ci')) !== 0 && (await npm('install')) !== 0)
    throw new Error('npm could not install the packages; its messages stand above')
  // A build contains the packages that it loads. If it fails now, the next start builds again but does not install again.
  writeFileSync(outdatedStamp, '')
  writeFileSync(packagesStamp, packagesStampText())
}

async function build(lock) {
  say('building')
  const args = [join(root, 'scripts', 'build.js'), '--without-agent']
  if ((await run(process.execPath, args, {}, lock.inherited)) !== 0)
    throw new Error('the build failed; its messages stand above')
  rmSync(outdatedStamp, { force: true })
}

/** Compiles the agent; everything but shell sessions works without it. */
async function setUpAgent(required) {
  const { agent } = await import('./native.js')
  say('compiling the agent of shell sessions')
  if ((await agent.compile([process.arch])).length > 0) {
    const message = 'shell sessions need a C compiler in a source checkout: `sudo apt install gcc libc6-dev`'
    if (required) throw new Error(message)
    return say(message)
  }
  agent.copy(join(root, 'dist', 'agent'))
}

async function setUpBrowser() {
  if ((await run(process.execPath, [join(root, 'dist', 'main.js'), 'setup'])) !== 0)
    throw new Error('no Chromium could be set up; its messages stand above')
  writeFileSync(browserStamp, new Date().toISOString())
}

/** Runs a program with its output on stderr; stdout is for the data of the command. */
async function run(program, args, env = {}, inherited = []) {
  const { spawn } = await import('node:child_process')
  return new Promise((resolve, reject) => {
    const shell = process.platform === 'win32'
    const stdio = ['ignore', 2, 2, ...inherited]
    const child = spawn(program, args, { cwd: root, stdio, shell, env: { ...process.env, ...env } })
    child.on('error', reject)
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    const wants = (flag) => process.argv.includes(flag)
    await ensureReady({ browser: wants('--browser'), docker: wants('--docker'), tests: wants('--tests') })
  } catch (error) {
    say(error.message)
    process.exitCode = 3
  }
}

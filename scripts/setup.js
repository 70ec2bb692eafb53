// Prepares a source checkout: packages, build, browsers, and for tests Docker and the programs that they use. Node
// built-ins only, because it runs before anything is installed. Costs only a few file stats if nothing is missing,
// because every start of bin/bax.js calls it.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const require = createRequire(import.meta.url)
const {
  root,
  packagesStamp,
  browserStamp,
  packagesKey,
  packagesReady,
  browserReady,
  buildReady,
  agentReady,
  isReady,
} = require('./ready.cjs')
const lockDir = join(root, 'node_modules', '.bax-setup')

const say = (line) => process.stderr.write(`bax setup: ${line}\n`)

/**
 * Updates packages, build and (on request) browsers, the agent of shell sessions, Docker with its images, and programs
 * for tests. Throws an Error with one sentence if it fails; missing parts of the last two are only reported.
 */
export async function ensureReady({ browser = false, agent = false, docker = false, tests = false } = {}) {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 12)) throw new Error(`bax needs Node 20.12 or newer; this is ${process.version}`) // prettier-ignore
  if (!docker && !tests && isReady(browser, agent)) return
  const release = await takeLock()
  try {
    // Another first run may have done this meanwhile.
    if (!packagesReady()) await installPackages()
    if (!buildReady()) await build()
    if (browser && !browserReady()) await setUpBrowser()
    if (agent && !agentReady()) await setUpAgent()
    if (tests) await (await import('./test-packages.js')).setUpTestPackages({ say, run })
    if (docker) await (await import('./docker.js')).setUpDocker({ say, run, root })
  } finally {
    release()
  }
}

async function installPackages() {
  say('installing packages (once)')
  const flags = ['--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  // `npm ci` rejects a lock file that lacks another platform's optional package; `npm install` fixes it.
  if ((await run('npm', ['ci', ...flags])) !== 0 && (await run('npm', ['install', ...flags])) !== 0) {
    throw new Error('npm could not install the packages; its messages stand above')
  }
  writeFileSync(packagesStamp, packagesKey())
}

async function build() {
  say('building')
  if ((await run(process.execPath, [join(root, 'scripts', 'build.js'), '--without-agent'])) !== 0)
    throw new Error('the build failed; its messages stand above')
}

async function setUpAgent() {
  const { agent } = await import('./native.js')
  say('compiling the agent of shell sessions')
  if ((await agent.compile([process.arch])).length > 0)
    throw new Error('shell sessions need a C compiler in a source checkout: `sudo apt install gcc libc6-dev`')
  agent.copy(join(root, 'dist', 'agent'))
}

async function setUpBrowser() {
  if ((await run(process.execPath, [join(root, 'dist', 'main.js'), 'setup'])) !== 0)
    throw new Error('no Chromium could be set up; its messages stand above')
  writeFileSync(browserStamp, new Date().toISOString())
}

/** Runs a program with its output on stderr; stdout is for the data of the command. */
async function run(program, args, env = {}) {
  const { spawn } = await import('node:child_process')
  return new Promise((resolve, reject) => {
    const shell = process.platform === 'win32'
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 2, 2], shell, env: { ...process.env, ...env } })
    child.on('error', reject)
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

/** Allows one setup at a time: a folder is the lock, and the pid in it shows whether its owner is still running. */
async function takeLock() {
  mkdirSync(join(root, 'node_modules'), { recursive: true })
  const owner = join(lockDir, 'pid')
  for (let reported = false; ;) {
    try {
      mkdirSync(lockDir)
      writeFileSync(owner, String(process.pid))
      return () => rmSync(lockDir, { recursive: true, force: true })
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (isStale(owner)) rmSync(lockDir, { recursive: true, force: true })
    else {
      if (!reported) say('waiting for another set-up to finish')
      reported = true
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}

function isStale(owner) {
  try {
    process.kill(Number(readFileSync(owner, 'utf8')), 0)
    return false
  } catch (error) {
    // Either the owner has ended, or it has created the folder but not yet written its pid, which takes no time.
    return (
      error.code === 'ESRCH' ||
      (error.code === 'ENOENT' && existsSync(lockDir) && Date.now() - statSync(lockDir).mtimeMs > 5000)
    )
  }
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

// Sets up Docker for shell sessions, with their two images. Node built-ins only. Unavailable parts are only reported,
// because only shell sessions need them. Costs three small requests if everything exists.
import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { installPackages } from './apt.js'
import { agent, launcher } from './native.js'

const systemSocket = '/var/run/docker.sock'
const images = { busybox: 'bax-shell:busybox', default: 'bax-shell:default' }
const debianPackages = { dockerd: 'docker.io', debootstrap: 'debootstrap', busybox: 'busybox-static' }
/** Timeout for a daemon to respond after its start. */
const startMs = 60_000

/** `say` writes a line, `run` runs a program (output on stderr) and returns its exit code, `root` is the checkout. */
export async function setUpDocker({ say, run, root }) {
  const tools = { say, run, root }
  const architecture = process.arch === 'arm64' ? 'arm64' : 'x64'
  if (!agent.isCompiled(architecture) && !(await compileAgent(tools, architecture)))
    return say('no shell sessions: their agent needs a C compiler (gcc, libc6-dev), and none is here')
  const found = await findDocker()
  const socket = found.socket ?? (found.mayStart ? await startDocker(tools) : undefined)
  if (!socket) return found.why && say(`no shell sessions: ${found.why}`)
  for (const [which, name] of Object.entries(images)) {
    if (await hasImage(socket, name)) continue
    say(`making the image ${name}${which === 'default' ? ' (a few minutes, once)' : ''}`)
    await needProgram(tools, which === 'default' ? 'debootstrap' : 'busybox')
    const args = [join(root, 'dist', 'main.js'), 'shell', 'image', 'build', '--which', which, '--embedded']
    if ((await run(process.execPath, args, { DOCKER_HOST: `unix://${socket}` })) !== 0)
      say(`there is no image ${name}; the messages above say why`)
  }
}

/** Compiles the agent and copies it into the build; installs a compiler first as root on Debian. */
async function compileAgent(tools, architecture) {
  let missing = await agent.compile([architecture])
  if (missing.length > 0 && (await installPackages(tools, ['gcc', 'libc6-dev'])))
    missing = await agent.compile([architecture])
  if (missing.length > 0) return false
  agent.copy(join(tools.root, 'dist', 'agent'))
  await launcher.compile([architecture])
  launcher.copy(join(tools.root, 'dist'))
  return true
}

/** Finds a socket that responds; otherwise returns the reason, and whether a daemon may be started. */
async function findDocker() {
  const dockerHost = process.env.DOCKER_HOST
  if (dockerHost && !dockerHost.startsWith('unix://'))
    return { why: `DOCKER_HOST is ${dockerHost}: its images are yours to make` }
  const runtime = process.env.XDG_RUNTIME_DIR
  const sockets = dockerHost
    ? [dockerHost.slice('unix://'.length)]
    : [systemSocket, ...(runtime ? [join(runtime, 'docker.sock')] : []), join(homedir(), '.docker/run/docker.sock')]
  for (const socket of sockets) if ((await ask(socket, '/_ping')) === 200) return { socket }
  if (dockerHost) return { why: `no Docker answers at ${dockerHost} (DOCKER_HOST)` }
  if (process.platform !== 'linux') return { why: 'start Docker Desktop, then run `npm run setup`' }
  if (process.getuid() !== 0)
    return { why: 'no Docker answers; start it (`sudo systemctl start docker`), then run `npm run setup`' }
  return { mayStart: true }
}

/** Starts the system's Docker; returns its socket, or undefined after reporting the reason. */
async function startDocker(tools) {
  const { say, run, root } = tools
  if (!(await needProgram(tools, 'dockerd'))) return void say('no shell sessions: Docker is not installed')
  say('starting Docker')
  if (existsSync('/run/systemd/system')) {
    if ((await run('systemctl', ['start', 'docker'])) !== 0)
      return void say('no shell sessions: systemctl could not start Docker')
    return (await answers(systemSocket))
      ? systemSocket
      : void say('no shell sessions: Docker was started and does not answer')
  }
  // Without a service manager, the daemon keeps running after the setup.
  const log = join(root, 'node_modules', '.bax-dockerd.log')
  const file = openSync(log, 'w')
  const daemon = spawn('dockerd', ['--host', `unix://${systemSocket}`], {
    detached: true,
    stdio: ['ignore', file, file],
  })
  closeSync(file)
  let ended = false
  daemon.on('error', () => (ended = true))
  daemon.on('exit', () => (ended = true))
  daemon.unref()
  if (await answers(systemSocket, () => ended)) return systemSocket
  const last = readFileSync(log, 'utf8').trim().split('\n').at(-1)
  say(`no shell sessions: dockerd could not run here: ${last}`)
}

/** Resolves with true once a daemon responds, with false if it has ended or exceeds the timeout. */
async function answers(socket, ended = () => false) {
  for (const until = Date.now() + startMs; Date.now() < until && !ended();) {
    if ((await ask(socket, '/_ping')) === 200) return true
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return false
}

const hasImage = async (socket, name) => (await ask(socket, `/images/${name}/json`)) === 200

/** Returns the HTTP status of a request over a socket; undefined without a response. */
function ask(socketPath, path) {
  return new Promise((resolve) => {
    const asked = request({ socketPath, path, timeout: 5000 }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    asked.on('timeout', () => asked.destroy())
    asked.on('error', () => resolve(undefined))
    asked.end()
  })
}

async function needProgram(tools, name) {
  const isInstalled = () =>
    ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'].some((folder) =>
      existsSync(join(folder, name)),
    )
  return isInstalled() || ((await installPackages(tools, [debianPackages[name]])) && isInstalled())
}

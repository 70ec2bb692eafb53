// A server with its fixtures (a site, two keys, a relayed browser), and its resource usage.
import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from '../build.js'
import { hostilePages } from './hostile-pages.js'

/** Time that a stopping server gives to running work, in seconds. */
export const drainSecs = 10
/** Timeout for a server to end; then it is killed. */
const endMs = 90_000
/** Timeout for a browser to connect to its relay. */
const relayMs = 120_000

const run = promisify(execFile)

/**
 * Serves linked pages of text; `/filled/` ones are filled by their script, `/hostile/` ones never rest, and `/names/` ones
 * load images from many hosts whose names do not resolve.
 */
export async function openSite() {
  const text = Array.from({ length: 40 }, (_, at) => `<p>Sentence ${at} of a page that has something to say.</p>`).join(
    '',
  )
  const server = createServer((request, response) => {
    const hostile = hostilePages[request.url.replace('/hostile/', '')]
    if (hostile) return response.setHeader('content-type', 'text/html').end(hostile)
    if (request.url === '/names/') return response.setHeader('content-type', 'text/html').end(manyNames())
    const number = Number(/\d+/.exec(request.url)?.[0] ?? 0)
    const links = [1, 2, 3].map((step) => `<a href="/page/${(number * 3 + step) % 500}">${step}</a>`).join(' ')
    const body = `<h1>Page ${number}</h1>${text}${links}`
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(
      request.url.startsWith('/filled/')
        ? `<!doctype html><title>Filled</title><main id="root"></main><script>root.innerHTML = ${JSON.stringify(body)}</script>`
        : `<!doctype html><title>Page ${number}</title><main>${body}</main>`,
    )
  })
  // The default timeout: servers on the web also close idle connections in use.
  server.keepAliveTimeout = 5000
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Returns a page with images of 80 hosts, other ones each time. */
function manyNames() {
  const hosts = Array.from({ length: 80 }, (_, at) => `h${at}-${Math.random().toString(36).slice(2)}.example`)
  return `<!doctype html><title>Names</title>${hosts.map((host) => `<img src="http://${host}/">`).join('')}`
}

/** Builds into a separate folder that no other build replaces, inside the checkout so that its packages are found. */
export async function buildApart() {
  const parent = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url))
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, 'bax-soak-'))
  await build(join(folder, 'dist'))
  return { program: join(folder, 'dist', 'main.js'), remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Starts a server with the given limits for callers; its state is removed with it. */
export async function openServer(program, flags) {
  const stateDir = await mkdtemp(join(tmpdir(), 'bax-soak-'))
  const temporary = join(stateDir, 'tmp')
  await mkdir(temporary)
  const config = join(stateDir, 'config.json')
  await writeFile(config, '{}')
  const env = {
    ...process.env,
    BAX_STATE_DIR: stateDir,
    BAX_CONFIG: config,
    TMPDIR: temporary,
    BAX_SERVER: '',
    BAX_API_KEY: '',
  }
  const bax = async (...args) => (await run(process.execPath, [program, ...args], { env })).stdout.trim()
  const keys = []
  for (const name of ['one', 'two', 'attacker'])
    keys.push(JSON.parse(await bax('key', 'create', name, '--json', '--embedded')).key)
  const serve = ['serve', '--port', '0', '--allow-private', '127.0.0.0/8', '--drain-secs', String(drainSecs)]
  const child = spawn(process.execPath, [program, ...serve, ...flags], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const lines = []
  const ended = new Promise((resolve) => child.on('close', (code) => resolve(code)))
  const url = await new Promise((resolve, reject) => {
    let rest = ''
    child.stderr.on('data', (chunk) => {
      const parts = (rest + chunk).split('\n')
      rest = parts.pop()
      for (const part of parts) {
        const line = part.startsWith('{') ? JSON.parse(part) : { level: 'error', message: part }
        if (line.level === 'warn' || line.level === 'error') lines.push(line)
        const [, address] = /bax is listening on (\S+)/.exec(line.message) ?? []
        if (address) resolve(address)
      }
    })
    void ended.then((code) => reject(new Error(`the server ended with ${code}: ${JSON.stringify(lines)}`)))
  })
  return {
    url,
    /** Keys of the regular callers. */
    keys: keys.slice(0, 2),
    /** Key of the attacker. */
    attackerKey: keys[2],
    stateDir,
    program,
    pid: child.pid,
    temporary,
    env,
    /** Warnings and errors in its log. */
    lines,
    bax,
    /** Stops it; returns its exit code, or `killed` after the timeout. */
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), endMs)
      const code = await ended
      clearTimeout(timer)
      return code ?? 'killed'
    },
    async remove() {
      child.kill('SIGKILL')
      await rm(stateDir, { recursive: true, force: true })
    },
  }
}

/** Connects a browser through the relay; returns the ID of its session. */
export async function openRelay(server, key) {
  const client = { ...server.env, BAX_SERVER: server.url, BAX_API_KEY: key }
  const { program } = server
  const { stdout } = await run(process.execPath, [program, 'relay', 'tokens', 'create', '--json'], { env: client })
  const { token } = JSON.parse(stdout)
  const args = [program, 'relay', 'connect', '--launch', '--policy', 'full', '--name', 'soak', '--no-events']
  const child = spawn(process.execPath, args, {
    env: { ...client, BAX_RELAY_TOKEN: token },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (chunk) => (stderr += chunk))
  const ended = new Promise((resolve) => child.on('close', resolve))
  const close = () => (child.kill('SIGTERM'), ended)
  const until = performance.now() + relayMs
  while (child.exitCode === null && performance.now() < until) {
    const answer = await fetch(`${server.url}/relay/sessions`, { headers: { 'x-api-key': key } })
    // A low rate limit may reject the request.
    const { sessions = [] } = await answer.json()
    if (sessions.length > 0) return { id: sessions[0].id ?? sessions[0].session_id, close }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  await close()
  throw new Error(`no browser for the relay: ${stderr}`)
}

/** Returns a process and all its descendants. */
export async function treeOf(pid) {
  const parents = new Map()
  for (const name of (await readdir('/proc')).filter((one) => /^\d+$/.test(one))) {
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => undefined)
    if (stat) parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
  }
  const tree = new Set([pid])
  for (let grown = true; grown;) {
    grown = false
    for (const [child, parent] of parents) {
      if (!tree.has(parent) || tree.has(child)) continue
      tree.add(child)
      grown = true
    }
  }
  return [...tree]
}

/**
 * Returns the private memory in MB of the first process of a tree, and of all together. Mapped files are excluded: their
 * share depends on who else on the machine runs the same browser.
 */
export async function memoryOf(pid) {
  const each = await Promise.all((await treeOf(pid)).map(async (one) => [one, await ownMemory(one)]))
  return { server: each.find(([one]) => one === pid)?.[1] ?? 0, all: each.reduce((sum, [, mb]) => sum + mb, 0) }
}

async function ownMemory(pid) {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  const kb = (field) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0)
  return (kb('Pss_Anon') + kb('Pss_Shmem')) / 1024
}

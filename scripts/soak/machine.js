// A server of its own with what it works on: a site, two keys, a browser at its relay; and what it costs the machine.
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const run = promisify(execFile)

/** Pages of text that link to each other; `/filled/` ones are filled by their script. */
export async function openSite() {
  const text = Array.from({ length: 40 }, (_, at) => `<p>Sentence ${at} of a page that has something to say.</p>`).join(
    '',
  )
  const server = createServer((request, response) => {
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
  // Clients choose when to let go: a connection that closes as it is used again is no fault of theirs.
  server.keepAliveTimeout = 600_000
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() }
}

/** A server whose bounds for callers are given; its state goes with it. */
export async function openServer(flags) {
  const stateDir = await mkdtemp(join(tmpdir(), 'bax-soak-'))
  const temporary = join(stateDir, 'tmp')
  await run('mkdir', [temporary])
  const env = {
    ...process.env,
    BAX_STATE_DIR: stateDir,
    BAX_CONFIG: '/nonexistent',
    TMPDIR: temporary,
    BAX_SERVER: '',
    BAX_API_KEY: '',
  }
  const bax = async (...args) => (await run(process.execPath, [program, ...args], { env })).stdout.trim()
  const keys = []
  for (const name of ['one', 'two']) keys.push(JSON.parse(await bax('key', 'create', name, '--json', '--embedded')).key)
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--allow-private', '127.0.0.0/8', ...flags], {
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
    keys,
    pid: child.pid,
    stateDir,
    temporary,
    env,
    /** Warnings and errors of its log. */
    lines,
    bax,
    async stop() {
      child.kill('SIGTERM')
      return ended
    },
    remove: () => rm(stateDir, { recursive: true, force: true }),
  }
}

/** A browser brought through the relay; gives the id of its session. */
export async function openRelay(server, key) {
  const client = { ...server.env, BAX_SERVER: server.url, BAX_API_KEY: key }
  const { stdout } = await run(process.execPath, [program, 'relay', 'tokens', 'create', '--json'], { env: client })
  const { token } = JSON.parse(stdout)
  const args = [program, 'relay', 'connect', '--launch', '--policy', 'full', '--name', 'soak', '--no-events']
  const child = spawn(process.execPath, args, {
    env: { ...client, BAX_RELAY_TOKEN: token },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk) => (said += chunk))
  const ended = new Promise((resolve) => child.on('close', resolve))
  for (;;) {
    const answer = await fetch(`${server.url}/relay/sessions`, { headers: { 'x-api-key': key } })
    const { sessions } = await answer.json()
    if (sessions.length > 0)
      return { id: sessions[0].id ?? sessions[0].session_id, close: () => (child.kill('SIGTERM'), ended) }
    if (child.exitCode !== null) throw new Error(`no browser for the relay: ${said}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** A process and all below it. */
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

/** Memory of the whole tree with what is shared counted once, in MB. */
export async function memoryOf(pid) {
  let total = 0
  for (const one of await treeOf(pid)) {
    const text = await readFile(`/proc/${one}/smaps_rollup`, 'utf8').catch(() => '')
    total += Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0)
  }
  return total / 1024
}

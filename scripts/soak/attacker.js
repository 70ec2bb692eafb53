// A client with a separate key that attacks the server while others work: hostile strings, half-open upgrades, fork bombs,
// crashed renderers and damaged files. It counts its attempts, and reports responses that a server must never send.
import { once } from 'node:events'
import { appendFile, readdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { hostilePages } from './hostile-pages.js'

const hostile = [
  '../../etc', 'x%2f..%2f', '//127.0.0.1:1/x', 'http://127.0.0.1:1/', '\0', '\ud800', 'a\r\nx-injected: 1', '--privileged',
  '$(reboot)', '__proto__', 'constructor', '', ' ', 'x'.repeat(10_000), '\u202e\u0000\u200b', '*'.repeat(500), '{{{{', '[[[[',
] // prettier-ignore

/** Operations with a string from the caller, and the body that carries it. */
const textOperations = [
  ['POST', '/shell/sessions', (text) => ({ image: text })],
  ['POST', '/shell/sessions', (text) => ({ image: 'bax-shell:busybox', cwd: text, env: { [text]: text } })],
  ['POST', '/sessions', (text) => ({ requested_name: text, locale: text, timezone: text, user_agent: text })],
  ['POST', '/sessions', (text) => ({ cdp_url: text })],
  ['POST', '/sessions', (text) => ({ proxy: { server: text } })],
  ['POST', '/sessions', (text) => ({ profile_id: text })],
  ['POST', '/v1/scrape', (text) => ({ url: text })],
  ['POST', '/v1/scrape', (text) => ({ url: 'http://127.0.0.1:1/', formats: ['json'], json_options: { schema: { pattern: text } } })],
  ['POST', '/v1/crawl', (text) => ({ url: 'http://127.0.0.1:1/', include_paths: [text] })],
  ['POST', '/v1/search', (text) => ({ query: text, session_id: text })],
  ['POST', '/cdp', (text) => ({ session_id: text, method: text })],
  ['POST', '/profiles', (text) => ({ name: text, session_id: text })],
  ['POST', '/commands', (text) => ({ session_id: text, commands: [{ command: text }] })],
] // prettier-ignore

const bombs = ['f(){ f|f& };f', 'while :; do (sleep 100 &) done', 'b(){ setsid sh -c "sleep 100" & b & b; }; b']

const pick = (list) => list[Math.floor(Math.random() * list.length)]
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Attacks until `stop` is called, `atOnce` at a time, each once per `pauseMs`. */
export function attack({ url, key, stateDir, shell, site, atOnce = 1, pauseMs = 1000 }) {
  const tried = new Map()
  const failures = []
  const sockets = new Set()
  let stopped = false

  const ask = async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(120_000),
    })
    const text = await response.text()
    // 503 and 507 are rejections with a reason; any other 5xx is a bug of the server.
    if (response.status >= 500 && ![503, 507].includes(response.status))
      failures.push(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`)
    return { status: response.status, answer: text && JSON.parse(text) }
  }

  const attacks = {
    async strings() {
      const [method, path, body] = pick(textOperations)
      const { answer } = await ask(method, path, body(pick(hostile)))
      // Sessions that were created nevertheless are closed, to free the quota.
      const id = answer?.session_id
      if (id && path === '/shell/sessions') await ask('DELETE', `/shell/sessions/${id}`)
      if (id && path === '/sessions') await ask('DELETE', `/sessions/${id}`)
    },
    async upgrades() {
      const { hostname, port } = new URL(url)
      const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
      await once(socket, 'connect')
      socket.write(
        `GET ${pick(['/relay/connect', '/nothing', '/sessions/ses_x/cdp'])} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\n` +
          'upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
      )
      socket.resume()
    },
    async bombs() {
      const { answer } = await ask('POST', '/shell/sessions', { image: 'bax-shell:busybox' })
      const { session_id } = answer
      if (!session_id) return
      await ask('POST', '/shell/exec', { session_id, command: `(${pick(bombs)}) & sleep 1`, timeout_secs: 3 })
      const { status, answer: after } = await ask('POST', '/shell/exec', { session_id, command: 'echo ok', timeout_secs: 20 }) // prettier-ignore
      if (status !== 200 || after.stdout !== 'ok\n') failures.push(`after a bomb: ${status} ${JSON.stringify(after)}`)
      await ask('DELETE', `/shell/sessions/${session_id}`)
    },
    async renderers() {
      const { answer } = await ask('POST', '/sessions', { headless: true })
      const { session_id } = answer
      if (!session_id) return
      const { answer: crash } = await ask('POST', '/cdp', { session_id, method: 'Page.crash' })
      const { answer: after } = await ask('POST', '/commands', { session_id, commands: [{ command: 'get_title' }] })
      // A call that was refused crashes nothing, and one that has reported the crash leaves a reloaded page.
      if (crash.success && after.success)
        failures.push(`a crashed page has a title: ${JSON.stringify({ crash, after })}`)
      await ask('DELETE', `/sessions/${session_id}`)
    },
    async files() {
      const { answer } = await ask('POST', '/profiles', { name: `attack-${Math.random().toString(36).slice(2)}` })
      if (!answer?.profile_id) return
      const folder = join(stateDir, 'profiles')
      for (const name of await readdir(folder))
        if (name.includes(answer.profile_id)) await writeFile(join(folder, name), pick(['', '{', '\0\0\0', '{"a":1}']))
      await ask('GET', '/profiles')
      await ask('DELETE', `/profiles/${answer.profile_id}`)
    },
    async journals() {
      const { answer } = await ask('POST', '/v1/crawl', { url: 'http://127.0.0.1:1/', limit: 1, async: true })
      if (!answer?.id) return
      const folder = join(stateDir, 'crawls')
      const own = (await readdir(folder, { recursive: true })).filter((name) => name.includes(answer.id))
      for (const name of own) await appendFile(join(folder, name), '{"half": ').catch(() => {}) // folders
      await ask('GET', `/v1/crawl/${answer.id}`)
      await ask('GET', '/v1/crawl')
    },
  }
  if (!shell) delete attacks.bombs
  // With a site, also attack shared resources.
  if (site) Object.assign(attacks, greedyAttacks(ask, site))

  const loop = async () => {
    while (!stopped) {
      // Half of them are the cheap ones.
      const kind = Math.random() < 0.5 && !site ? pick(['strings', 'upgrades']) : pick(Object.keys(attacks))
      try {
        await attacks[kind]()
      } catch (error) {
        failures.push(`${kind}: ${error.message} ${error.cause?.message ?? ''}`)
      }
      tried.set(kind, (tried.get(kind) ?? 0) + 1)
      await pause(pauseMs)
    }
  }
  const loops = Promise.all(Array.from({ length: atOnce }, loop))
  return {
    tried,
    failures,
    async stop() {
      stopped = true
      await loops
    },
    /** Leaves half-open connections to the server, which must end despite them. */
    close() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Attacks on shared resources: browsers, names, threads, sockets and queues. */
const greedyAttacks = (ask, site) => ({
  async pages() {
    const { answer } = await ask('POST', '/sessions', { headless: true, timeout_secs: 60 })
    const { session_id } = answer
    if (!session_id) return
    const url = `${site}/hostile/${pick(Object.keys(hostilePages))}`
    await ask('POST', '/commands', {
      session_id,
      commands: [{ command: 'navigate_to', data: { url, timeout_ms: 5000 } }],
    })
    await pause(10_000)
    await ask('POST', '/commands', { session_id, commands: [{ command: 'get_title' }], timeout_ms: 5000 })
    await ask('DELETE', `/sessions/${session_id}`)
  },
  names: () => ask('POST', '/v1/scrape', { url: `${site}/names/`, render: 'browser' }),
  scrapes: () =>
    ask('POST', '/v1/scrape', { url: `${site}/hostile/${pick(Object.keys(hostilePages))}`, render: 'browser' }),
  crawls: () => ask('POST', '/v1/crawl', { url: `${site}/page/1`, limit: 100, async: true }),
  loops: () =>
    ask('POST', '/v1/scrape', {
      url: `${site}/page/1`,
      formats: ['json'],
      json_options: { schema: { pattern: '(a+)+$' } },
    }),
})

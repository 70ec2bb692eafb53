// The kinds of work of a soak test, each as one unit that succeeds or throws the reason.
import { Agent, request } from 'node:http'

/** A rejection that a loaded server may send. */
export class Refused extends Error {
  constructor(status, code, retryAfter) {
    super(`refused with ${status} ${code}`)
    this.status = status
    this.code = code
    this.retryAfter = retryAfter
  }
}

/** Number of each kind per hundred units. */
const shares = { scrape: 40, session: 20, render: 10, visit: 10, relay: 10, exec: 5, crawl: 5 }

/** Uses of a session before it is replaced. */
const usesOfSession = 50
/** Timeout for any request; a server that does not respond is an error, too. */
const timeoutMs = 200_000

const agent = new Agent({ keepAlive: true })

/** Not fetch, which closes a connection after ten seconds even if this process is the slow one. */
function send(url, { method, key, body }) {
  const text = body && JSON.stringify(body)
  const headers = { 'x-api-key': key, ...(text && { 'content-type': 'application/json' }) }
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent, signal: AbortSignal.timeout(timeoutMs) }, (response) => {
      const chunks = []
      response.on('error', reject).on('data', (chunk) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode,
          retryAfter: response.headers['retry-after'],
          text: Buffer.concat(chunks).toString(),
        }),
      )
    })
    sent.on('error', reject).end(text)
  })
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Returns the work of one key, which creates sessions and shells for reuse when they are first needed. */
export function workOf({ url, key, site, relay, shell }) {
  const ask = async (method, path, body, good = (answer) => answer.success !== false) => {
    const { status, retryAfter, text } = await send(`${url}${path}`, { method, key, body })
    if (status === 429 || status === 503) throw new Refused(status, JSON.parse(text).code, retryAfter)
    if (status === 204) return undefined
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`)
    const answer = JSON.parse(text)
    if (!good(answer)) throw new Error(`${method} ${path}: ${answer.code} ${answer.error} ${text.slice(0, 600)}`)
    return answer
  }
  let retries = 0
  /** Retries rejected requests of accepted work, like any client would. */
  const requestWithRetry = async (...args) => {
    for (;;) {
      try {
        return await ask(...args)
      } catch (error) {
        if (!(error instanceof Refused) || !error.retryAfter) throw error
        retries += 1
        await pause(Number(error.retryAfter) * 1000)
      }
    }
  }
  const page = () => `${site}/page/${Math.floor(Math.random() * 500)}`
  const commands = (session_id) => ({
    session_id,
    commands: [
      { command: 'navigate_to', data: { url: page() } },
      { command: 'get_title' },
      { command: 'get_text', data: { selector: 'h1' } },
    ],
  })
  const makeSession = async () => {
    let made = await ask('POST', '/sessions', { idle_timeout_secs: 0 })
    while (made.status === 'provisioning') {
      await pause(made.retry_after_ms ?? 500)
      made = await requestWithRetry('GET', `/sessions/provision/${made.provision_id}`)
      if (made.status === 'failed') throw new Error(`no session: ${made.error}`)
    }
    return made.session_id
  }
  const endSession = (id) => requestWithRetry('DELETE', `/sessions/${id}`)
  /** Works in a session, which is replaced after a failure. */
  const inSession = async (id) => {
    try {
      await requestWithRetry('POST', '/commands', commands(id))
    } catch (error) {
      await endSession(id)
      throw error
    }
  }
  const idle = []
  let shellId
  const kinds = {
    scrape: () => ask('POST', '/v1/scrape', { url: page() }),
    render: () => ask('POST', '/v1/scrape', { url: page().replace('/page/', '/filled/'), render: 'browser' }),
    async session() {
      const held = idle.pop() ?? { id: await makeSession(), uses: 0 }
      await inSession(held.id)
      held.uses += 1
      if (held.uses < usesOfSession) idle.push(held)
      else await endSession(held.id)
    },
    async visit() {
      const id = await makeSession()
      await inSession(id)
      await endSession(id)
    },
    crawl: () => ask('POST', '/v1/crawl', { url: page(), limit: 5 }),
    async exec() {
      shellId ??= ask('POST', '/shell/sessions', { image: 'bax-shell:busybox' }).then(
        ({ session_id }) => session_id,
        (error) => {
          // Retried by the next one.
          shellId = undefined
          throw error
        },
      )
      const session_id = await shellId
      return ask(
        'POST',
        '/shell/exec',
        { session_id, command: 'seq 1 1000 | tail -1' },
        ({ exit_code }) => exit_code === 0,
      )
    },
    relay: () =>
      ask('POST', '/cdp', { session_id: relay, method: 'Runtime.evaluate', params: { expression: '6 * 7' } }),
  }
  const without = new Set([...(relay ? [] : ['relay']), ...(shell ? [] : ['exec'])])
  const wheel = Object.entries(shares).flatMap(([kind, share]) => (without.has(kind) ? [] : Array(share).fill(kind)))
  return {
    pick: () => wheel[Math.floor(Math.random() * wheel.length)],
    unit: (kind) => kinds[kind](),
    /** Number of rejected requests of accepted work. */
    get retries() {
      return retries
    },
  }
}

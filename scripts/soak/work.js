// The kinds of work of a soak, each as one unit that is done or says why not.

/** A refusal that a loaded server may give. */
export class Refused extends Error {
  constructor(status, retryAfter) {
    super(`refused with ${status}`)
    this.status = status
    this.retryAfter = retryAfter
  }
}

/** How often each kind comes among a hundred. */
const shares = { scrape: 40, session: 20, render: 10, visit: 10, relay: 10, exec: 5, crawl: 5 }

/** Work for one key; sessions and shells that it uses again and again are made when they are first needed. */
export function workOf({ url, key, site, relay, shell }) {
  const ask = async (method, path, body, good = (answer) => answer.success !== false) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (response.status === 429 || response.status === 503)
      throw new Refused(response.status, response.headers.get('retry-after'))
    if (response.status === 204) return undefined
    if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`)
    const answer = JSON.parse(text)
    if (!good(answer)) throw new Error(`${method} ${path}: ${text.slice(0, 300)}`)
    return answer
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
    let made = await ask('POST', '/sessions', { idle_timeout_secs: 60 })
    while (made.status === 'provisioning') {
      await new Promise((resolve) => setTimeout(resolve, made.retry_after_ms ?? 500))
      made = await ask('GET', `/sessions/provision/${made.provision_id}`)
      if (made.status === 'failed') throw new Error(`no session: ${made.error}`)
    }
    return made.session_id
  }
  const idle = []
  let shellId
  const kinds = {
    scrape: () => ask('POST', '/v1/scrape', { url: page() }),
    render: () => ask('POST', '/v1/scrape', { url: page().replace('/page/', '/filled/'), render: 'browser' }),
    async session() {
      const session = idle.pop() ?? (await makeSession())
      const answer = await ask('POST', '/commands', commands(session))
      idle.push(session)
      return answer
    },
    async visit() {
      const session = await makeSession()
      try {
        await ask('POST', '/commands', commands(session))
      } finally {
        await ask('DELETE', `/sessions/${session}`)
      }
    },
    crawl: () => ask('POST', '/v1/crawl', { url: page(), limit: 5 }),
    async exec() {
      shellId ??= ask('POST', '/shell/sessions', { image: 'bax-shell:busybox' }).then(({ session_id }) => session_id)
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
  return async () => {
    const kind = wheel[Math.floor(Math.random() * wheel.length)]
    await kinds[kind]()
    return kind
  }
}

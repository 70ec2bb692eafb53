// Checks that are the same for Compose and Swarm.
import { docker, expect, until } from './steps.js'

/** The site that the workers visit. Public addresses need no permission, and these stay on this machine. */
export const site = { subnet: '11.22.33.0/24', url: 'http://site/' }

/** Program of the site. */
export const siteProgram = `require('node:http').createServer((_, response) => {
  response.setHeader('content-type', 'text/html')
  response.end('<!doctype html><title>Site</title><main><h1>Hello</h1><p>Some words of this page.</p></main>')
}).listen(80)`

/** Creates the first key in a worker, which needs none itself; returns it. */
export async function createKey(worker) {
  const script =
    'export BAX_STATE_DIR=/tmp/key && bax key create ops --scopes admin --embedded && bax fleet import --fleet "$BAX_FLEET" >&2 && rm -r /tmp/key'
  return docker('exec', worker, 'sh', '-c', script)
}

export class FleetClient {
  #url
  #key

  constructor(url, key) {
    this.#url = url
    this.#key = key
  }

  /** Sends a request; returns its status and parsed body. */
  async send(method, path, body, timeoutMs = 60_000) {
    const response = await fetch(this.#url + path, {
      method,
      headers: { 'x-api-key': this.#key, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  }

  ready(secs) {
    return until('gateway that is ready', secs, async () => (await this.send('GET', '/readyz', undefined, 5000)).status === 200) // prettier-ignore
  }

  async workers() {
    return (await this.send('GET', '/fleet')).body.workers
  }

  readyWorkers(count, secs) {
    return until(`fleet of ${count} ready workers`, secs, async () => {
      const ready = (await this.workers()).filter(({ state }) => state === 'ready')
      return ready.length === count && ready
    })
  }

  /** Scrapes a page in a browser. */
  async scrape() {
    const { status, body } = await this.send('POST', '/v1/scrape', { url: site.url, render: 'browser' })
    expect('a scrape', [status, body.error, body.data?.metadata.title], [200, undefined, 'Site'])
    return body.data.metadata.render
  }

  /** Creates a session; returns its ID, and the address of its worker. */
  async session() {
    const { status, body } = await this.send('POST', '/sessions', { start_url: site.url })
    expect('the status of a new session', [status, body.status], [200, 'ready'])
    const worker = (await this.workers()).find(({ sessions, state }) => sessions.used > 0 && state === 'ready')
    return { id: body.session_id, address: new URL(worker.url).hostname, worker: worker.worker_id }
  }

  /** Runs a command in a session. */
  async title(id) {
    return this.send('POST', '/commands', { session_id: id, commands: [{ command: 'get_title' }] })
  }

  async assertAlive(id) {
    const { status, body } = await this.title(id)
    expect('the title in the session', [status, body.results?.[0]?.data?.result?.value], [200, 'Site'])
  }
}

/** Loads `bax serve` of a build with concurrent scrapes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { treeMemory, treeOf } from '../measure.ts'

const clients = 32
/** Scrapes before the measurement, until the code of all threads is compiled, and in it. */
const warmUp = 4000
const measured = 2400

export interface ServerLoad {
  readonly perSecond: number
  /** CPU time of the server per scrape. */
  readonly cpuMs: number
  /** Number of cores that the server used, and the same with the site and the clients. */
  readonly cores: number
  readonly allCores: number
  /** 99th percentile of the delay of the event loop. */
  readonly lagMs: number
  readonly megabytes: number
}

export interface LoadOptions {
  /** URL of a site with `pages` pages. */
  readonly site: string
  readonly pages: number
  readonly folder: string
}

export async function loadServer(dist: string, { site, pages, folder }: LoadOptions): Promise<ServerLoad> {
  const state = await mkdtemp(join(folder, 'state-'))
  const flags = ['--port', '0', '--metrics', '127.0.0.1:0', '--allow-private', '127.0.0.0/8', '--log-format', 'text']
  const child = spawn(process.execPath, [join(dist, 'main.js'), 'serve', '--state-dir', state, ...flags], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const agent = new Agent({ keepAlive: true })
  let sent = 0
  try {
    const { api, metrics } = await addressesOf(child.stderr)
    const scrapes = async (count: number) => {
      let left = count
      const client = async () => {
        while (left-- > 0) {
          const url = `${site}/page/${1 + (sent++ % (pages - 1))}`
          await ask(agent, `${api}/v1/scrape`, JSON.stringify({ url, render: 'http' }))
        }
      }
      await Promise.all(Array.from({ length: clients }, client))
    }
    await scrapes(warmUp)
    // Reading the metrics resets the delays.
    await ask(agent, metrics)
    const [cpu, all, start] = [cpuOf(child.pid!), cpuOf(process.pid), performance.now()]
    await scrapes(measured)
    const [spent, spentByAll, ms] = [cpuOf(child.pid!) - cpu, cpuOf(process.pid) - all, performance.now() - start]
    const [, lag] = /^nodejs_eventloop_lag_p99_seconds\S* (\S+)/m.exec(await ask(agent, metrics))!
    return {
      perSecond: measured / (ms / 1000),
      cpuMs: spent / measured,
      cores: spent / ms,
      allCores: spentByAll / ms,
      lagMs: Number(lag) * 1000,
      megabytes: treeMemory(child.pid!),
    }
  } finally {
    agent.destroy()
    child.kill()
    await once(child, 'exit')
  }
}

const cpuOf = (pid: number): number => treeOf(pid).reduce((sum, { cpuMs }) => sum + cpuMs, 0)

/** Returns the URLs that the server logs: of its API, and of its metrics. */
async function addressesOf(log: NodeJS.ReadableStream): Promise<{ api: string; metrics: string }> {
  const lines = createInterface({ input: log })
  let [api, metrics] = ['', '']
  for await (const line of lines) {
    const [url] = /http:\/\/127\.0\.0\.1:\d+\S*/.exec(line) ?? []
    if (url?.endsWith('/metrics')) metrics = url
    else if (url !== undefined) api = url
    if (api !== '' && metrics !== '') break
  }
  log.resume()
  if (api === '' || metrics === '') throw new Error('the server did not start')
  return { api, metrics }
}

/** Sends a request; returns the body of a successful response. */
function ask(agent: Agent, url: string, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const sent = request(url, { agent, headers, method: body === undefined ? 'GET' : 'POST' }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk))
      response.on('error', reject).on('end', () => {
        // Some pages of the site are missing, which is a successful scrape.
        if (response.statusCode === 200) resolve(text)
        else reject(new Error(`${url}: ${response.statusCode} ${text}`))
      })
    })
    sent.on('error', reject).end(body)
  })
}

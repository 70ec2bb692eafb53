/** A browser with a debugging port that is not started by bax. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { WebSocket } from 'ws'
import { locateBrowser } from '../../src/engine/browser/install/locate.ts'
import { waitUntil } from './wait.ts'

export interface ForeignBrowser {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  /** Home and profile of its user. */
  readonly folder: string
  /** Returns the URLs of its open pages. */
  pages(): Promise<string[]>
  titles(): Promise<string[]>
  /** Evaluates an expression in the page whose URL has this ending, over a separate connection. */
  evaluate(ending: string, expression: string): Promise<unknown>
  closePage(ending: string): Promise<void>
  /** Crashes the page whose URL has this ending. */
  crash(ending: string): Promise<void>
  close(): Promise<void>
}

/** Starts it with experimental features, and with `full` a full Chromium instead of the headless shell, which lacks internal pages. */
export async function startForeignBrowser({
  port = 0,
  full = false,
  page = 'about:blank',
  features = '',
} = {}): Promise<ForeignBrowser> {
  const folder = await mkdtemp(join(tmpdir(), 'bax-test-foreign-'))
  const { path } = await locateBrowser({ headless: true, stealth: full }, { cacheDir: folder })
  const flags = [
    '--headless',
    '--no-sandbox',
    `--remote-debugging-port=${port}`,
    `--user-data-dir=${folder}`,
    ...(features ? [`--enable-features=${features}`] : []),
    page,
  ]
  // A separate process group, since the system's start scripts put a shell in between. All of it ends with the process
  // of the tests, which closes the input, even if that is killed.
  const untilInputEnds = '"$0" "$@" & cat > /dev/null; kill -KILL 0'
  const child = spawn('sh', ['-c', untilInputEnds, path, ...flags], {
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
    // Its downloads stay in the folder.
    env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder },
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => reject(new Error(`${path} has ended with ${code} before it listened`)))
    createInterface({ input: child.stderr }).on('line', (line) => {
      const host = /DevTools listening on ws:\/\/([^/]+)/.exec(line)?.[1]
      if (host) resolve(`http://${host}`)
    })
  })
  const pages = async () => {
    const targets = (await getJson(`${url}/json/list`)) as Target[]
    return targets.filter(({ type }) => type === 'page')
  }
  const socketTo = async (ending: string) => {
    // The list lags behind the pages by some milliseconds.
    let target: Target | undefined
    await waitUntil(async () => (target = (await pages()).find((page) => page.url.endsWith(ending))) !== undefined)
    const socket = new WebSocket(target!.webSocketDebuggerUrl)
    await once(socket, 'open')
    return socket
  }
  return {
    url,
    folder,
    pages: async () => (await pages()).map((target) => target.url),
    titles: async () => (await pages()).map((target) => target.title),
    evaluate: async (ending, expression) => {
      const socket = await socketTo(ending)
      const params = { expression, returnByValue: true, awaitPromise: true }
      socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params }))
      const [data] = (await once(socket, 'message')) as [Buffer]
      socket.close()
      const { result, error } = JSON.parse(data.toString()) as { result?: Evaluated; error?: { message: string } }
      if (!result) throw new Error(`${expression} was not evaluated: ${error?.message}`)
      return result.result.value
    },
    closePage: async (ending) => {
      const socket = await socketTo(ending)
      socket.send(JSON.stringify({ id: 1, method: 'Page.close' }))
      await once(socket, 'close')
    },
    crash: async (ending) => {
      const socket = await socketTo(ending)
      socket.send(JSON.stringify({ id: 1, method: 'Page.crash' }))
      // A crashed page does not respond.
      await once(socket, 'close')
    },
    close: async () => {
      const exited = once(child, 'exit')
      process.kill(-child.pid!, 'SIGKILL')
      await exited
      await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

interface Evaluated {
  readonly result: { readonly value?: unknown }
}

interface Target {
  readonly type: string
  readonly url: string
  readonly title: string
  readonly webSocketDebuggerUrl: string
}

function getJson(url: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request(url, { agent: false }, (response) => {
      let text = ''
      response
        .setEncoding('utf8')
        .on('data', (chunk: string) => (text += chunk))
        .on('end', () => resolve(JSON.parse(text)))
    })
      .on('error', reject)
      .end()
  })
}

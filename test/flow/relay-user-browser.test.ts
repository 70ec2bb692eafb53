import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { endpointAt, endpointOfRunning } from '../../src/engine/relay/connector/endpoint.ts'
import { openUserBrowser } from '../../src/engine/relay/connector/user-browser.ts'
import { failureOf } from '../support/session-steps.ts'
import { freePort } from '../support/ports.ts'
import { waitUntil } from '../support/wait.ts'

/** A browser in approval mode: no list of targets, and a dialog for every connection. */
interface AskingBrowser {
  readonly url: string
  readonly port: number
  /** Connections that have opened a dialog, oldest first. */
  readonly dialogs: { readonly path: string; allow(): void; refuse(): void }[]
  close(): Promise<void>
}

async function startAskingBrowser(answer?: (request: IncomingMessage, response: ServerResponse) => void) {
  const notFound = (_request: IncomingMessage, response: ServerResponse) => response.writeHead(404).end()
  const server = createServer(answer ?? notFound)
  const sockets = new Set<Duplex>()
  server.on('connection', (socket) => sockets.add(socket))
  const upgrader = new WebSocketServer({ noServer: true })
  const dialogs: AskingBrowser['dialogs'] = []
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    dialogs.push({
      path: request.url ?? '',
      allow: () => upgrader.handleUpgrade(request, socket, head, () => {}),
      refuse: () => socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n'),
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  const browser: AskingBrowser = { url: `http://127.0.0.1:${port}`, port, dialogs, close }
  return browser
}

let askingBrowser: AskingBrowser
let folder: string
let reports: string[]

beforeEach(async () => {
  ;[askingBrowser, folder] = await Promise.all([startAskingBrowser(), mkdtemp(join(tmpdir(), 'bax-test-'))])
  reports = []
})
afterEach(async () => {
  await askingBrowser.close()
  await rm(folder, { recursive: true, force: true })
})

const never = new AbortController().signal
type Wish = Parameters<typeof openUserBrowser>[0]['source']

const open = (source: Wish, approveMs = 60_000, signal = never) => {
  const config = { cacheDir: folder, display: false }
  return openUserBrowser({ source, config, approveMs, report: (line) => reports.push(line) }, signal)
}
const at = (cdp: string): Wish => ({ cdp, allowRemote: false })

describe('a browser that asks its user', () => {
  test('opens one dialog and connects once it is allowed', async () => {
    const opening = open(at(askingBrowser.url))
    await waitUntil(() => askingBrowser.dialogs.length > 0)
    expect(reports).toEqual(['waiting for the Allow remote debugging dialog'])
    askingBrowser.dialogs[0]!.allow()
    await (await opening).release()
    expect(askingBrowser.dialogs.map(({ path }) => path)).toEqual(['/devtools/browser'])
  })

  test('does not ask again when its user refuses', async () => {
    const opening = failureOf(open(at(askingBrowser.url)))
    await waitUntil(() => askingBrowser.dialogs.length > 0)
    askingBrowser.dialogs[0]!.refuse()
    expect(await opening).toMatchObject({ code: 'browser_refused', exit: 5 })
    expect(askingBrowser.dialogs).toHaveLength(1)
  })

  test('times out when the dialog is not answered', async () => {
    expect(await failureOf(open(at(askingBrowser.url), 50))).toMatchObject({ code: 'timeout' })
    // None if the time was over before the request arrived.
    expect(askingBrowser.dialogs.length).toBeLessThan(2)
  })

  test('disconnects when the caller aborts', async () => {
    const stop = new AbortController()
    const opening = failureOf(open(at(askingBrowser.url), 60_000, stop.signal))
    await waitUntil(() => askingBrowser.dialogs.length > 0)
    stop.abort()
    expect(await opening).toMatchObject({ message: 'the connection attempt was canceled' })
  })

  test('is found through the port file of its data folder', async () => {
    await writeFile(join(folder, 'DevToolsActivePort'), `${askingBrowser.port}\n/devtools/browser/one\n`)
    const opening = open({ running: 'chrome', dataDir: folder })
    await waitUntil(() => askingBrowser.dialogs.length > 0)
    askingBrowser.dialogs[0]!.allow()
    await (await opening).release()
    expect(askingBrowser.dialogs[0]!.path).toBe('/devtools/browser/one')
  })
})

describe('the port file of a running browser', () => {
  const file = () => join(folder, 'DevToolsActivePort')
  const found = () => endpointOfRunning('chrome', folder)

  test('reports disabled debugging if it is missing', async () => {
    expect(await failureOf(found())).toMatchObject({
      code: 'browser_failed',
      hint: expect.stringContaining('chrome://'),
    })
  })

  test('is read again while it is incomplete', async () => {
    await writeFile(file(), '')
    const finding = found()
    await writeFile(file(), '9222')
    await writeFile(file(), '9222\n/devtools/browser/late')
    expect(await finding).toMatchObject({ url: 'ws://127.0.0.1:9222/devtools/browser/late', asksUser: true })
  })

  test('is rejected if it has other content', async () => {
    const texts = {
      'no port': 'ninety\n/devtools/browser/x',
      'port 0': '0\n/devtools/browser/x',
      'a port beyond the last': '70000\n/devtools/browser/x',
      'another path': '9222\n/evil',
      'a third line': '9222\n/devtools/browser/x\nmore',
    }
    const codes = await Promise.all(
      Object.entries(texts).map(async ([name, text]) => {
        const own = join(folder, name)
        await mkdir(own)
        await writeFile(join(own, 'DevToolsActivePort'), text)
        return [name, (await failureOf(endpointOfRunning('chrome', own))).code]
      }),
    )
    expect(codes).toEqual(Object.keys(texts).map((name) => [name, 'stale_port_file']))
  })

  test('is stale if its port refuses connections', async () => {
    await writeFile(file(), `${await freePort()}\n/devtools/browser/gone\n`)
    expect(await failureOf(open({ running: 'chrome', dataDir: folder }))).toMatchObject({ code: 'stale_port_file' })
  })
})

describe('the URL of a browser', () => {
  test('on another machine requires --allow-remote-cdp', async () => {
    expect(await failureOf(endpointAt('http://192.0.2.1:9222', false, never))).toMatchObject({
      code: 'invalid_request',
      hint: expect.stringContaining('--allow-remote-cdp'),
    })
    const url = 'ws://192.0.2.1:9222/devtools/browser/x'
    expect(await endpointAt(url, true, never)).toMatchObject({ url })
  })

  test.each(['localhost:9222', 'ftp://127.0.0.1', 'nothing'])('%s is rejected', async (cdp) => {
    expect(await failureOf(endpointAt(cdp, false, never))).toMatchObject({ code: 'invalid_request' })
  })

  test('explains how to start a browser if nothing listens', async () => {
    const failure = await failureOf(endpointAt(`http://127.0.0.1:${await freePort()}`, false, never))
    expect(failure).toMatchObject({ code: 'browser_failed', hint: expect.stringContaining('--remote-debugging-port=') })
  })

  test('is rejected if another program responds', async () => {
    const other = await startAskingBrowser((_request, response) => response.end('<h1>A printer</h1>'))
    expect(await failureOf(endpointAt(other.url, false, never))).toMatchObject({ code: 'browser_failed' })
    await other.close()
  })

  test('keeps host and port of the request if the browser reports others', async () => {
    const reports = { webSocketDebuggerUrl: 'ws://10.0.0.7:1/devtools/browser/abc' }
    const other = await startAskingBrowser((_request, response) => response.end(JSON.stringify(reports)))
    const { url, list } = await endpointAt(other.url, false, never)
    expect(url).toBe(`ws://127.0.0.1:${other.port}/devtools/browser/abc`)
    expect(list?.href).toBe(`${other.url}/json/list`)
    await other.close()
  })
})

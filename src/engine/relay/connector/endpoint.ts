/** Finds the debugging endpoint of a browser (`spec: relay 2`). */
import { readFile } from 'node:fs/promises'
import { homedir, platform } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { RunningBrowser } from '../../../core/relay-names.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'

export type BrowserSource =
  | { readonly cdp: string; readonly allowRemote: boolean }
  | { readonly running: RunningBrowser; readonly dataDir?: string }
  | { readonly launch: true }

export interface Endpoint {
  readonly url: string
  /** URL of its list of targets, most recently used first; undefined if there is none. */
  readonly list?: URL
  /** Whether the browser asks its user for approval. */
  readonly asksUser: boolean
}

/** Host names of this machine in URLs. */
export const loopbackHost = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/** Parses a given browser URL. @throws BaxError `invalid_request` */
function parseBrowserUrl(cdp: string, allowRemote: boolean): URL {
  const invalid = (message: string, hint?: string) =>
    new BaxError('invalid_request', `--cdp ${message}`, { details: [{ path: 'cdp', message }], ...(hint && { hint }) })
  const url = parseUrl(cdp)
  if (!url || !/^(?:https?|wss?):$/.test(url.protocol)) {
    throw invalid(`is not a browser URL: ${cdp}`, 'use http://127.0.0.1:9222 or the ws:// URL that the browser prints')
  }
  if (!loopbackHost.test(url.hostname) && !allowRemote) {
    throw invalid(`${url.host} is not this machine`, 'add --allow-remote-cdp to connect to other machines')
  }
  return url
}

/**
 * Returns the WebSocket endpoint for a given browser URL.
 * @throws BaxError `invalid_request`, `browser_failed`.
 */
export async function endpointAt(cdp: string, allowRemote: boolean, signal: AbortSignal): Promise<Endpoint> {
  const url = parseBrowserUrl(cdp, allowRemote)
  if (url.protocol.startsWith('ws')) return { url: cdp, asksUser: false }
  return versionEndpoint(url, signal)
}

/** @throws BaxError `browser_failed` with a hint how to start the browser. */
async function versionEndpoint(base: URL, signal: AbortSignal): Promise<Endpoint> {
  const timeout = AbortSignal.any([signal, AbortSignal.timeout(limits.relay.portMs)])
  const ws = base.protocol === 'https:' ? 'wss:' : 'ws:'
  let response: Response
  try {
    response = await fetch(new URL('/json/version', base), { signal: timeout, redirect: 'error' })
  } catch (cause) {
    throw nothingAnswers(base.origin, base.port, cause)
  }
  // In approval mode the list of targets is not served; connecting opens the dialog.
  if (response.status === 404) return { url: `${ws}//${base.host}/devtools/browser`, asksUser: true }
  const info = (await response.json().catch(() => ({}))) as { webSocketDebuggerUrl?: unknown }
  if (typeof info.webSocketDebuggerUrl !== 'string' || !parseUrl(info.webSocketDebuggerUrl)) {
    throw new BaxError('browser_failed', `the server at ${base.origin} is not a browser`)
  }
  // Keep our host: behind a forwarded port the browser reports another one.
  const { pathname } = new URL(info.webSocketDebuggerUrl)
  return { url: `${ws}//${base.host}${pathname}`, list: new URL('/json/list', base), asksUser: false }
}

export const nothingAnswers = (origin: string, port: string, cause: unknown): BaxError =>
  new BaxError('browser_failed', `nothing answers at ${origin}`, {
    cause,
    hint: `start the browser with --remote-debugging-port=${port || '9222'} and its own --user-data-dir`,
  })

/** Returns the IDs of the listed pages, most recently used first; empty if the browser does not respond. */
export async function pagesByUse(list: URL): Promise<readonly string[]> {
  try {
    const response = await fetch(list, { signal: AbortSignal.timeout(limits.relay.portMs), redirect: 'error' })
    const targets = (await response.json()) as { id: string; type: string }[]
    return targets.filter(({ type }) => type === 'page').map(({ id }) => id)
  } catch {
    // The order is optional; the loss of the browser is reported by its connection.
    return []
  }
}

/** @throws BaxError `stale_port_file`, `browser_failed`. */
export async function endpointOfRunning(
  browser: RunningBrowser,
  dataDir: string = dataDirOf(browser),
): Promise<Endpoint> {
  const file = join(dataDir, 'DevToolsActivePort')
  const deadline = performance.now() + limits.relay.portMs
  for (;;) {
    const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause
      throw new BaxError('browser_failed', `${browser} does not allow debugging: ${file} does not exist`, {
        cause,
        hint: 'enable it at chrome://inspect/#remote-debugging, or start a browser with --launch',
      })
    })
    const [port = '', path = '', ...rest] = text.trimEnd().split('\n')
    const valid = rest.length === 0 && /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535
    if (valid && path.startsWith('/devtools/browser')) return { url: `ws://127.0.0.1:${port}${path}`, asksUser: true }
    // The browser may still be writing the file.
    if (performance.now() > deadline) {
      throw new BaxError('stale_port_file', `${file} does not contain a port and a path`, {
        hint: 'restart the browser, or delete that file when it is not running',
      })
    }
    await sleep(100)
  }
}

/** Returns the default user data folder of a browser. */
function dataDirOf(browser: RunningBrowser): string {
  const names: Record<NodeJS.Platform & ('darwin' | 'win32' | 'linux'), Record<RunningBrowser, string>> = {
    linux: { chrome: '.config/google-chrome', chromium: '.config/chromium', edge: '.config/microsoft-edge' },
    darwin: {
      chrome: 'Library/Application Support/Google/Chrome',
      chromium: 'Library/Application Support/Chromium',
      edge: 'Library/Application Support/Microsoft Edge',
    },
    win32: {
      chrome: 'AppData/Local/Google/Chrome/User Data',
      chromium: 'AppData/Local/Chromium/User Data',
      edge: 'AppData/Local/Microsoft/Edge/User Data',
    },
  }
  const system = platform()
  return join(homedir(), names[system === 'darwin' || system === 'win32' ? system : 'linux'][browser])
}

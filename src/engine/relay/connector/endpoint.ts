/** Finds the address at which a browser can be debugged (`spec: relay 2`). */
import { readFile } from 'node:fs/promises'
import { homedir, platform } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { RunningBrowser } from '../../../core/relay-words.ts'

/** Where a browser is to be found. */
export type BrowserWish =
  | { readonly cdp: string; readonly allowRemote: boolean }
  | { readonly running: RunningBrowser; readonly dataDir?: string }
  | { readonly launch: true }

export interface Endpoint {
  readonly url: string
  /** Where it lists its targets, the one used last first; undefined where it does not. */
  readonly list?: URL
  /** The browser asks its user first. */
  readonly asksUser: boolean
}

/** Names of this machine in an address. */
export const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/**
 * The websocket of a browser whose address was given.
 * @throws BaxError `invalid_request`, `browser_failed`.
 */
export async function endpointAt(cdp: string, allowRemote: boolean, signal: AbortSignal): Promise<Endpoint> {
  const fault = (message: string, hint?: string) =>
    new BaxError('invalid_request', `--cdp ${message}`, { details: [{ path: 'cdp', message }], ...(hint && { hint }) })
  if (!URL.canParse(cdp) || !/^(?:https?|wss?):$/.test(new URL(cdp).protocol)) {
    throw fault(`is no address of a browser: ${cdp}`, 'give http://127.0.0.1:9222 or the ws:// address that it prints')
  }
  const url = new URL(cdp)
  if (!loopback.test(url.hostname) && !allowRemote) {
    throw fault(`${url.host} is not this machine`, 'add --allow-remote-cdp when that is what you want')
  }
  if (url.protocol.startsWith('ws')) return { url: cdp, asksUser: false }
  return versionEndpoint(url, signal)
}

/** @throws BaxError `browser_failed` with what to start when nothing answers. */
async function versionEndpoint(base: URL, signal: AbortSignal): Promise<Endpoint> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(limits.relay.portMs)])
  const ws = base.protocol === 'https:' ? 'wss:' : 'ws:'
  let answer: Response
  try {
    answer = await fetch(new URL('/json/version', base), { signal: within, redirect: 'error' })
  } catch (cause) {
    throw new BaxError('browser_failed', `nothing answers at ${base.origin}`, {
      cause,
      hint: `start the browser with --remote-debugging-port=${base.port || '9222'} and a --user-data-dir of its own`,
    })
  }
  // In approval mode the list of targets is not served; the connection itself raises the dialog.
  if (answer.status === 404) return { url: `${ws}//${base.host}/devtools/browser`, asksUser: true }
  const told = (await answer.json().catch(() => ({}))) as { webSocketDebuggerUrl?: unknown }
  if (typeof told.webSocketDebuggerUrl !== 'string' || !URL.canParse(told.webSocketDebuggerUrl)) {
    throw new BaxError('browser_failed', `what answers at ${base.origin} is no browser`)
  }
  // The browser names the host that it sees; through a forwarded port that is another one than ours.
  const { pathname } = new URL(told.webSocketDebuggerUrl)
  return { url: `${ws}//${base.host}${pathname}`, list: new URL('/json/list', base), asksUser: false }
}

/** Ids of the pages that a browser lists, the one used last first; none when it does not answer. */
export async function pagesByUse(list: URL): Promise<readonly string[]> {
  try {
    const answer = await fetch(list, { signal: AbortSignal.timeout(limits.relay.portMs), redirect: 'error' })
    const targets = (await answer.json()) as { id: string; type: string }[]
    return targets.filter(({ type }) => type === 'page').map(({ id }) => id)
  } catch {
    // The order is a help and no more; a browser that has gone is told of by its connection.
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
      throw new BaxError('browser_failed', `${browser} does not allow debugging: there is no ${file}`, {
        cause,
        hint: 'switch it on at chrome://inspect/#remote-debugging, or start a browser with --launch',
      })
    })
    const [port = '', path = '', ...rest] = text.trimEnd().split('\n')
    const whole = rest.length === 0 && /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535
    if (whole && path.startsWith('/devtools/browser')) return { url: `ws://127.0.0.1:${port}${path}`, asksUser: true }
    // The browser may be writing it right now.
    if (performance.now() > deadline) {
      throw new BaxError('stale_port_file', `${file} does not hold a port and a path`, {
        hint: 'restart the browser, or delete that file when it is not running',
      })
    }
    await sleep(100)
  }
}

/** The folder in which a browser keeps its user's profile unless it was told another one. */
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

/** Finds or launches the browser of a connector. */
import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { platform } from 'node:os'
import type { EngineConfig } from '../../../core/config/config.ts'
import { asBaxError, BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { CdpRouter } from '../../cdp/router.ts'
import { launchFailure, startBrowser } from '../../browser/pool/launch.ts'
import { locateBrowser } from '../../browser/install/locate.ts'
import { Upstream } from '../../browser/cdp/upstream.ts'
import {
  type BrowserSource,
  type Endpoint,
  endpointAt,
  endpointOfRunning,
  nothingAnswers,
  pagesByUse,
} from './endpoint.ts'
import { openBrowserWire } from '../../cdp/socket-wire.ts'

export interface UserBrowser {
  readonly router: CdpRouter
  /** Whether it was launched for the connector and ends with it. */
  readonly own: boolean
  /** IDs of its pages, most recently used first; empty if unknown. */
  recent(): Promise<readonly string[]>
  /** Disconnects; ends the browser if it is `own`. */
  release(): Promise<void>
}

export interface BrowserOptions {
  readonly source: BrowserSource
  readonly config: Pick<EngineConfig, 'browser' | 'cacheDir' | 'display' | 'webmcp'>
  readonly approveMs: number
  /** Reports progress. */
  readonly report: (line: string) => void
}

/** Chrome silently drops longer messages. Those that are too large to forward are rejected one by one. */
const chromeBytes = 257 * 1024 * 1024

/** @throws BaxError `browser_not_found`, `browser_failed`, `browser_refused`, `stale_port_file`, `timeout`, `invalid_request`. */
export async function openUserBrowser(options: BrowserOptions, signal: AbortSignal): Promise<UserBrowser> {
  const { source } = options
  if ('launch' in source) return launch(options)
  const endpoint = await endpointOf(source, signal)
  const wire = await connect(endpoint, options, signal)
  const { list } = endpoint
  const recent = async () => (list ? pagesByUse(list) : [])
  return { router: new CdpRouter(wire), own: false, recent, release: async () => wire.close() }
}

/** Checks that there is a browser to connect or to launch, without asking its user. @throws BaxError as `openUserBrowser` */
export async function checkBrowser(
  { source, config }: Omit<BrowserOptions, 'report' | 'approveMs'>,
  signal: AbortSignal,
) {
  if ('launch' in source) return void (await locateOwn(config))
  const { host, port, hostname, protocol } = new URL((await endpointOf(source, signal)).url)
  const socket = connectSocket(Number(port || (protocol === 'wss:' ? 443 : 80)), hostname.replaceAll(/[[\]]/g, ''))
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([signal, AbortSignal.timeout(limits.relay.portMs)]) })
  } catch (cause) {
    throw 'running' in source ? notRunning(source.running, cause) : nothingAnswers(`${protocol}//${host}`, port, cause)
  } finally {
    socket.destroy()
  }
}

type Existing = Exclude<BrowserSource, { readonly launch: true }>

const endpointOf = (source: Existing, signal: AbortSignal): Promise<Endpoint> =>
  'cdp' in source
    ? endpointAt(source.cdp, source.allowRemote, signal)
    : endpointOfRunning(source.running, source.dataDir)

async function connect(
  { url, asksUser }: Endpoint,
  { source, approveMs, report }: BrowserOptions,
  signal: AbortSignal,
) {
  if (asksUser) report('waiting for the Allow remote debugging dialog')
  try {
    return await openBrowserWire(url, asksUser ? approveMs : limits.relay.portMs, signal, {
      maxBytes: chromeBytes,
      excessEnds: false,
    })
  } catch (thrown) {
    const error = asBaxError(thrown)
    const refused = (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED'
    if (!('running' in source) || !refused) throw error
    throw notRunning(source.running, error)
  }
}

const notRunning = (name: string, cause: unknown): BaxError =>
  new BaxError('stale_port_file', `${name} is not running at the port in its DevToolsActivePort file`, {
    cause,
    hint: 'start it, or restart it with remote debugging enabled',
  })

const runsHeadless = ({ display }: BrowserOptions['config']): boolean => !display && platform() === 'linux'

/** Finds the browser that is launched for a connector. */
const locateOwn = (config: BrowserOptions['config']) => {
  const { browser, cacheDir } = config
  return locateBrowser(
    { headless: runsHeadless(config), stealth: false },
    { ...(browser !== undefined && { browser }), cacheDir },
  )
}

async function launch({ config }: BrowserOptions): Promise<UserBrowser> {
  const { webmcp = true } = config
  const headless = runsHeadless(config)
  const located = await locateOwn(config)
  const shell = located.kind === 'headless-shell'
  const process = await startBrowser({ path: located.path, shell, kind: headless ? 'headless' : 'headful', webmcp })
  const router = new Upstream(process.input, process.output)
  try {
    // A browser without a tab has nothing to work with.
    await router.send('Target.createTarget', { url: 'about:blank' })
  } catch (cause) {
    throw await launchFailure(process, located.path, cause)
  }
  return { router, own: true, recent: async () => [], release: () => process.end() }
}

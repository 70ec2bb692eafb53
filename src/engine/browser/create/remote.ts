/** Sessions on remote browsers, reached over their CDP endpoints. */
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Browser, ConnectOverCDPTransport } from 'playwright'
import { asBaxError, BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withErrorHandler } from '../../../core/process/unhandled-errors.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { readMessage } from '../../cdp/message.ts'
import { type CdpMessage, noCdp } from '../../cdp/router.ts'
import type { Egress, RequestRules } from '../../egress/egress.ts'
import { type BrowserWire, openBrowserWire } from '../../cdp/socket-wire.ts'
import { request } from '../../egress/http-client.ts'
import { installClipboard } from '../clipboard/clipboard.ts'
import type { SessionPlan } from './plan.ts'
import { enableEmulation, OverrideTransport } from '../cdp/override-transport.ts'
import { playwright } from '../cdp/playwright.ts'
import { incomingFolder } from '../files/session-files.ts'
import type { SessionHost } from '../ports/session-host.ts'
import { Transfers } from '../cdp/transfers.ts'

/** Maximum length of the response with the browser's WebSocket URL, in characters. */
const maxChars = 64 * 1024

export interface RemoteHost extends SessionHost {
  /** Calls the listener when the browser is lost, with its protocol error if that is why the connection was closed. */
  onLost(listener: (error: Error | undefined) => void): void
}

/** Connects and opens a context; closing it leaves the browser running. @throws BaxError `browser_failed`. */
export async function openRemote(plan: SessionPlan, downloads: string, egress: Egress): Promise<RemoteHost> {
  const { browser, link } = await connect(plan, join(downloads, incomingFolder), egress)
  try {
    const { launchMs: ms } = limits.pool
    const host = openContext(browser, link, plan, downloads)
    return await withDeadline(host, { ms, error: `it opened no page within ${ms} ms` })
  } catch (cause) {
    await browser.close()
    throw unusable(plan.cdpUrl!, link.error ?? cause)
  }
}

async function openContext(browser: Browser, link: Link, plan: SessionPlan, downloads: string): Promise<RemoteHost> {
  const facts = await factsOf(browser)
  const context = await browser.newContext(plan.contextOptions(facts, plan.input.proxy))
  const transfers = link.transfers.of(link.contextId)
  enableEmulation(context, link.transport.of(link.contextId))
  await installClipboard(context, { hidden: plan.input.disable_automation_detection })
  await context.newPage()
  return {
    context,
    transfers,
    workerId: 'remote',
    headless: facts.userAgent.includes('Headless'),
    userAgent: plan.userAgent(facts),
    downloads,
    close: async () => {
      // The browser may be gone, or one of its pages may hang: disconnecting disposes of the context anyway.
      await withDeadline(context.close(), { ms: limits.pool.closeMs }).catch(() => {})
      await browser.close()
    },
    free: () => {},
    onLost: (listener) => void browser.once('disconnected', () => listener(link.error)),
  }
}

async function connect(
  plan: SessionPlan,
  artifactsDir: string,
  egress: Egress,
): Promise<{ browser: Browser; link: Link }> {
  const signal = AbortSignal.timeout(limits.pool.launchMs)
  const url = plan.cdpUrl!
  let link: Link | undefined
  try {
    const address = await socketAddress(url, egress.rulesFor(plan.owner), signal)
    const endpoint = new URL(address)
    egress.checkLiteral(endpoint)
    const proxy = egress.proxyFor?.(endpoint)
    if (proxy) await egress.checkHost(endpoint, { from: plan.owner, signal })
    const agent = proxy && (await import('../../egress/through-proxy.ts')).tunnelAgent(proxy, endpoint)
    const wire = await openBrowserWire(address, limits.pool.launchMs, signal, {
      maxBytes: limits.cdp.foreignBytes,
      excessEnds: true,
      lookup: egress.names.lookupFor({ from: plan.owner, signal }),
      ...(agent && { agent }),
    })
    const options = { timeout: limits.pool.launchMs, noDefaults: true, artifactsDir }
    link = new Link(wire)
    return { link, browser: await playwright().chromium.connectOverCDP(link.transport, options) }
  } catch (cause) {
    throw unusable(url, link?.error ?? cause)
  }
}

/** Requests the browser's WebSocket URL from its debugging port. The caller checks it too: it may name any host. */
async function socketAddress(url: string, egress: RequestRules, signal: AbortSignal): Promise<string> {
  const endpoint = new URL(url)
  if (endpoint.protocol === 'ws:' || endpoint.protocol === 'wss:') return url
  endpoint.pathname = `${endpoint.pathname.replace(/\/$/, '')}/json/version/`
  const { status, body } = await request(endpoint, { headers: { accept: 'application/json' }, signal, egress })
  const text = await textOf(body)
  if (status !== 200) throw refused(`it answered ${status}`)
  const address = addressIn(text)
  if (typeof address !== 'string' || !/^wss?:/i.test(address)) throw noPort()
  return address
}

function addressIn(text: string): unknown {
  try {
    return (JSON.parse(text) as { webSocketDebuggerUrl?: unknown } | null)?.webSocketDebuggerUrl
  } catch {
    return undefined
  }
}

const refused = (message: string, cause?: unknown) => new BaxError('browser_failed', message, { cause })
const noPort = () => refused('it is not the debugging port of a browser')

async function textOf(body: Readable): Promise<string> {
  let text = ''
  for await (const chunk of body) {
    text += String(chunk)
    if (text.length > maxChars) throw noPort()
  }
  return text
}

/**
 * Playwright's transport over a connection to an untrusted browser. Delivers every message in its own task, as
 * Playwright's transports do; a malformed message, or one that makes Playwright throw, closes the connection.
 */
class Link implements ConnectOverCDPTransport {
  /** ID of the context that was created last. */
  contextId = ''
  readonly transfers = new Transfers((message) => this.#wire.send(JSON.stringify({ ...message, id: unanswered })))
  onmessage: ((message: object) => void) | undefined
  /** The transport for Playwright. */
  readonly transport = new OverrideTransport(this)
  /** Protocol error of the browser that closed the connection. */
  error: Error | undefined
  readonly #wire: BrowserWire
  /** Pending calls with their sessions: Playwright throws on a response to an unknown call. */
  readonly #pending = new Map<number, string | undefined>()
  #onclose: (() => void) | undefined
  #closed = false

  constructor(wire: BrowserWire) {
    this.#wire = wire
    wire.handle({ onMessage: (text) => this.#receive(text), onClose: (error) => this.#end(error) })
  }

  /** Playwright may set its listener after the connection has closed. */
  set onclose(listener: (() => void) | undefined) {
    this.#onclose = listener
    if (this.#closed) this.#emitClose()
  }

  send(message: CdpMessage): void {
    if (message.id !== undefined) this.#pending.set(message.id, message.sessionId)
    this.#wire.send(JSON.stringify(message))
  }

  close(): void {
    this.#end()
  }

  #receive(text: string): void {
    if (this.#closed) return
    const message = readMessage(text)
    if (!message) return this.#end(refused(noCdp))
    if (message.method === undefined && !this.#isPending(message)) return
    const contextId = message.result?.['browserContextId']
    if (typeof contextId === 'string') this.contextId = contextId
    this.transfers.handle(message)
    setImmediate(() => withErrorHandler(this.#fail, () => this.onmessage?.(message)))
  }

  #isPending({ id, sessionId }: CdpMessage): boolean {
    const session = this.#pending.get(id!)
    return this.#pending.delete(id!) && session === sessionId
  }

  readonly #fail = (cause: unknown): void => this.#end(refused('it violates the DevTools protocol', cause))

  #end(error?: Error): void {
    if (this.#closed) return
    this.#closed = true
    this.error = error
    this.#wire.close(error && noCdp)
    this.#emitClose()
  }

  #emitClose(): void {
    setImmediate(() => this.#onclose?.())
  }
}

/** Message ID whose responses are ignored: Playwright counts up from 1 and never reaches it. */
const unanswered = 2 ** 31 - 1

async function factsOf(browser: Browser): Promise<{ version: string; userAgent: string }> {
  const session = await browser.newBrowserCDPSession()
  const { userAgent } = await session.send('Browser.getVersion')
  await session.detach()
  return { version: browser.version(), userAgent }
}

function unusable(url: string, cause: unknown): BaxError {
  if (cause instanceof BaxError && (cause.code === 'url_blocked' || cause.code === 'proxy_failed')) return cause
  const { host } = new URL(url)
  const { code, message } = asBaxError(cause)
  return new BaxError('browser_failed', `cannot use the browser at cdp_url (${host})`, {
    cause,
    hint: 'start it with --remote-debugging-port, and check the URL',
    details: [{ path: 'cdp_url', message: code === 'internal_error' ? noCdp : message }],
  })
}

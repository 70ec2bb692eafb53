/** Sessions on a browser that somebody else runs, reached over its CDP endpoint. */
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Browser } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { onAccountOf } from '../../../core/process/orphans.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { readMessage } from '../../cdp/message.ts'
import { type CdpMessage, noCdp } from '../../cdp/router.ts'
import type { Egress } from '../../egress/egress.ts'
import { type BrowserWire, openBrowserWire } from '../../relay/connector/socket-wire.ts'
import { get } from '../../render/http/http-client.ts'
import type { SessionPlan } from './plan.ts'
import { playwright } from '../pool/playwright.ts'
import type { Ground } from './session-host.ts'
import { Transfers } from '../pool/transfers.ts'

/** What a browser says of itself is shorter. */
const mostChars = 64 * 1024

export interface RemoteGround extends Ground {
  /** The listener gets what the browser has done wrong, if that is why it was left. */
  onLost(listener: (fault: Error | undefined) => void): void
}

/**
 * Connects and makes a context of the session's own; closing it detaches and leaves the browser running.
 * @throws BaxError `browser_failed` when nothing usable answers there.
 */
export async function openRemote(plan: SessionPlan, downloads: string, egress: Egress): Promise<RemoteGround> {
  const { browser, link } = await connect(plan.cdpUrl!, join(downloads, '.incoming'), egress)
  try {
    const { launchMs: ms } = limits.pool
    const made = groundOn(browser, link, plan, downloads)
    return await withDeadline(made, { ms, error: `it made no page within ${ms} ms` })
  } catch (cause) {
    await browser.close()
    throw unusable(plan.cdpUrl!, link.fault ?? cause)
  }
}

async function groundOn(browser: Browser, link: Link, plan: SessionPlan, downloads: string): Promise<RemoteGround> {
  const facts = await factsOf(browser)
  const context = await browser.newContext(plan.contextOptions(facts, plan.input.proxy))
  const transfers = link.transfers.of(link.contextId)
  await context.newPage()
  return {
    context,
    transfers,
    workerId: 'remote',
    headless: facts.userAgent.includes('Headless'),
    userAgent: plan.userAgent(facts),
    downloads,
    close: async () => {
      // The other side may be gone, or a page of it may hang: detaching drops the context there all the same.
      await withDeadline(context.close(), { ms: limits.pool.closeMs }).catch(() => {})
      await browser.close()
    },
    free: () => {},
    onLost: (listener) => void browser.once('disconnected', () => listener(link.fault)),
  }
}

async function connect(url: string, artifactsDir: string, egress: Egress): Promise<{ browser: Browser; link: Link }> {
  const signal = AbortSignal.timeout(limits.pool.launchMs)
  let link: Link | undefined
  try {
    const address = await socketAddress(url, egress, signal)
    egress.checkLiteral(new URL(address))
    const wire = await openBrowserWire(address, limits.pool.launchMs, signal, {
      maxBytes: limits.cdp.foreignBytes,
      excessEnds: true,
      lookup: egress.names.lookup,
    })
    const options = { timeout: limits.pool.launchMs, noDefaults: true, artifactsDir }
    link = new Link(wire)
    return { link, browser: await playwright().chromium.connectOverCDP(link as never, options) }
  } catch (cause) {
    throw unusable(url, link?.fault ?? cause)
  }
}

/** The browser's websocket, which one asks its port for; it may name any host, and so is checked like the first. */
async function socketAddress(url: string, egress: Egress, signal: AbortSignal): Promise<string> {
  const asked = new URL(url)
  if (asked.protocol === 'ws:' || asked.protocol === 'wss:') return url
  asked.pathname = `${asked.pathname.replace(/\/$/, '')}/json/version/`
  const { status, body } = await get(asked, { headers: { accept: 'application/json' }, signal, egress })
  const text = await textOf(body)
  if (status !== 200) throw new Error(`it answered ${status}`)
  const { webSocketDebuggerUrl: address } = JSON.parse(text) as { webSocketDebuggerUrl?: unknown }
  if (typeof address !== 'string' || !/^wss?:/i.test(address))
    throw new Error('no debugging port of a browser answers there')
  return address
}

async function textOf(body: Readable): Promise<string> {
  let text = ''
  for await (const chunk of body) {
    text += String(chunk)
    if (text.length > mostChars) throw new Error('no debugging port of a browser answers there')
  }
  return text
}

/**
 * The wire as Playwright takes one; every message in a task of its own, as its own transports do. The other side may be
 * anybody: what is no message, and what Playwright fails over, ends the wire.
 */
class Link {
  /** Of the context that was made over it last. */
  contextId = ''
  readonly transfers = new Transfers((message) => this.#wire.send(JSON.stringify({ ...message, id: unanswered })))
  onmessage: ((message: object) => void) | undefined
  /** What the other side has done wrong, for which the wire was closed. */
  fault: Error | undefined
  readonly #wire: BrowserWire
  /** Playwright's calls that have no answer yet, and the session of each; an answer to none of them would be a fault to it. */
  readonly #asked = new Map<number, string | undefined>()
  #onclose: (() => void) | undefined
  #over = false

  constructor(wire: BrowserWire) {
    this.#wire = wire
    wire.handle({ onMessage: (text) => this.#hear(text), onClose: (fault) => this.#end(fault) })
  }

  /** Playwright may come to hear of the end after it. */
  set onclose(listener: (() => void) | undefined) {
    this.#onclose = listener
    if (this.#over) this.#tellEnd()
  }

  send(message: CdpMessage): void {
    if (message.id !== undefined) this.#asked.set(message.id, message.sessionId)
    this.#wire.send(JSON.stringify(message))
  }

  close(): void {
    this.#end()
  }

  #hear(text: string): void {
    if (this.#over) return
    const message = readMessage(text)
    if (!message) return this.#end(new Error(noCdp))
    if (message.method === undefined && !this.#isAwaited(message)) return
    const made = message.result?.['browserContextId']
    if (typeof made === 'string') this.contextId = made
    this.transfers.heard(message)
    setImmediate(() => onAccountOf(this.#blame, () => this.onmessage?.(message)))
  }

  #isAwaited({ id, sessionId }: CdpMessage): boolean {
    const session = this.#asked.get(id!)
    return this.#asked.delete(id!) && session === sessionId
  }

  readonly #blame = (cause: unknown): void =>
    this.#end(new Error(`it breaks the rules of the DevTools protocol: ${(cause as Error).message}`, { cause }))

  #end(fault?: Error): void {
    if (this.#over) return
    this.#over = true
    this.fault = fault
    this.#wire.close(fault && noCdp)
    this.#tellEnd()
  }

  #tellEnd(): void {
    setImmediate(() => this.#onclose?.())
  }
}

/** Playwright counts up from 1: an answer to this number is nobody's. */
const unanswered = 2 ** 31 - 1

async function factsOf(browser: Browser): Promise<{ version: string; userAgent: string }> {
  const session = await browser.newBrowserCDPSession()
  const { userAgent } = await session.send('Browser.getVersion')
  await session.detach()
  return { version: browser.version(), userAgent }
}

function unusable(url: string, cause: unknown): BaxError {
  if (cause instanceof BaxError && cause.code === 'url_blocked') return cause
  const { host } = new URL(url)
  return new BaxError('browser_failed', `cannot use the browser at cdp_url (${host})`, {
    cause,
    hint: 'is it running with --remote-debugging-port, and is the address right?',
    details: [{ path: 'cdp_url', message: (cause as Error).message.split('\n', 1)[0]! }],
  })
}

/** Browsers started by hand, connected to an engine or to a test's own hub. */
import { makeBatchTools } from '../../src/engine/batch-tools.ts'
import { Connector, type ConnectorStatus } from '../../src/engine/relay/connector/connector.ts'
import { dialEngine } from '../../src/engine/relay/connector/dial.ts'
import { openUserBrowser } from '../../src/engine/relay/connector/user-browser.ts'
import { BaxError } from '../../src/core/errors/errors.ts'
import type { Link } from '../../src/core/net/link.ts'
import { type CollectedKind, collectedKinds, type RelayPolicy } from '../../src/core/relay-names.ts'
import { RelayHub } from '../../src/engine/relay/hub/hub.ts'
import { protocol } from '../../src/engine/relay/tunnel/messages.ts'
import type { RelaySession } from '../../src/engine/relay/hub/relay-session.ts'
import { memoryLink } from './memory-link.ts'
import { waitUntil } from './wait.ts'

/** The two ends of a link to a test's own hub, which can hold up messages. */
interface LinkPair {
  readonly near: Link
  readonly far: Link
}

export interface ConnectedHub {
  readonly hub: RelayHub
  readonly session: RelaySession
  readonly statuses: readonly ConnectorStatus[]
  readonly links: readonly LinkPair[]
  /** Returns the secret with which the connector resumes its session. */
  resumeSecret(): string
  /** While false, connections are rejected. */
  open: boolean
  readonly running: Promise<void>
  end(): Promise<void>
}

interface ConnectOptions {
  readonly kinds?: readonly CollectedKind[]
  readonly bodies?: boolean
  readonly maxEventsPerSec?: number
  readonly policy?: RelayPolicy
  readonly tabs?: readonly string[]
  readonly heartbeatMs?: number
  /** Wraps the connector's end of every new link. */
  readonly wrapLink?: (link: Link) => Link
}

/** Opens a hub in the test with a browser connected to it. */
export async function connectToHub(browser: string, source: ConnectOptions = {}): Promise<ConnectedHub> {
  const {
    policy = 'no-lifecycle',
    tabs = [],
    heartbeatMs,
    wrapLink = (link) => link,
    kinds,
    bodies,
    maxEventsPerSec,
  } = source
  const hub = new RelayHub({ whenLost: () => {} }, { log: () => {} }, { heartbeatMs })
  const statuses: ConnectorStatus[] = []
  const links: LinkPair[] = []
  let resume = ''
  const connector = new Connector({
    ...connectorOptions({ browser, policy, tabs, name: 'laptop', kinds, bodies, maxEventsPerSec }),
    dial: async () => {
      if (!connected.open) throw new BaxError('engine_unreachable', 'closed')
      const [near, far] = memoryLink()
      links.push({ near, far })
      hub.accept(far, { tokenId: null, owner: null, transport: 'local', onlyResumes: false })
      return withSecretListener(wrapLink(near), (secret) => (resume = secret))
    },
    onStatus: (status) => statuses.push(status),
  })
  const stop = new AbortController()
  const connected = { hub, statuses, links, open: true } as unknown as Mutable<ConnectedHub>
  const running = connector.run(stop.signal)
  // Tests that need the outcome await it later.
  running.catch(() => {})
  await waitUntil(() => hub.sessions[0]?.record(null).active_target_id != null)
  return Object.assign(connected, {
    session: hub.sessions[0]!,
    resumeSecret: () => resume,
    running,
    end: async () => {
      stop.abort()
      await running
      hub.close()
    },
  })
}

/** Returns the same link, which also reports the resume secret of its welcome message. */
function withSecretListener(link: Link, onSecret: (secret: string) => void): Link {
  const handle: Link['handle'] = (handlers) =>
    link.handle({
      ...handlers,
      onText: (text) => {
        const { type, resume } = JSON.parse(text) as { type: string; resume: string }
        if (type === 'welcome') onSecret(resume)
        handlers.onText(text)
      },
    })
  return new Proxy(link, {
    get: (of, name) => {
      if (name === 'handle') return handle
      const value = Reflect.get(of, name, of) as unknown
      return typeof value === 'function' ? (value.bind(of) as unknown) : value
    },
  })
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

interface ConnectorOptions {
  readonly kinds?: readonly CollectedKind[] | undefined
  readonly bodies?: boolean | undefined
  readonly maxEventsPerSec?: number | undefined
  readonly browser: string
  readonly policy: RelayPolicy
  readonly tabs: readonly string[]
  readonly name: string | null
}

const connectorOptions = ({ browser, policy, tabs, name, kinds, bodies, maxEventsPerSec }: ConnectorOptions) => ({
  name,
  attachment: {
    policy,
    tabs,
    kinds: kinds ?? collectedKinds,
    redact: true,
    bodies: bodies ?? false,
    maxEventsPerSec: maxEventsPerSec ?? null,
  },
  browser: (signal: AbortSignal) =>
    openUserBrowser(
      {
        source: { cdp: browser, allowRemote: false },
        config: { cacheDir: '/nowhere', display: false },
        approveMs: 1000,
        report: () => {},
      },
      signal,
    ),
  tools: makeBatchTools({}),
})

export interface ConnectBrowserOptions {
  /** URL of the browser, `http://127.0.0.1:PORT`. */
  readonly browser: string
  /** `http://…`, `unix:/path`, or a custom dial function. */
  readonly engine: string | (() => Promise<Link>)
  readonly token?: string
  readonly name?: string
  readonly policy?: RelayPolicy
  readonly tabs?: readonly string[]
}

export interface ConnectedBrowser {
  readonly id: string
  readonly statuses: readonly ConnectorStatus[]
  /** Links dialled so far. */
  readonly links: readonly Link[]
  readonly running: Promise<void>
  stop(): Promise<void>
}

/** Connects a browser to an engine; resolves once the engine has accepted it. */
export async function connectBrowser(options: ConnectBrowserOptions): Promise<ConnectedBrowser> {
  const { browser, engine, token, name, policy = 'no-lifecycle', tabs = [] } = options
  const statuses: ConnectorStatus[] = []
  const links: Link[] = []
  const connector = new Connector({
    ...connectorOptions({ browser, policy, tabs, name: name ?? null }),
    dial: async (signal, sessionId) => {
      const dialled =
        typeof engine === 'string'
          ? await dialEngine({ engine, ...(token && { token }) }, signal, sessionId)
          : await engine()
      links.push(dialled)
      return dialled
    },
    onStatus: (status) => statuses.push(status),
  })
  const stop = new AbortController()
  const running = connector.run(stop.signal)
  let failed: unknown
  running.catch((error: unknown) => (failed = error))
  const first = () => statuses.find((status) => status.state === 'connected')
  await waitUntil(() => first() !== undefined || failed !== undefined)
  if (failed) throw failed
  const end = async () => {
    stop.abort()
    await running
  }
  return { id: first()!.sessionId, statuses, links, running, stop: end }
}

/** Builds the first message of a connector. */
export const helloOf = (more: Record<string, unknown> = {}) => ({
  type: 'hello',
  proto: protocol,
  version: '0',
  platform: 'test',
  name: null,
  policy: 'full',
  redact: true,
  browser: { product: '', protocol_version: '', user_agent: '', headless: true },
  ...more,
})

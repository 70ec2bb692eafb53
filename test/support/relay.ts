/** A browser that was started by hand, brought to an engine by a connector. */
import { makeBatchTools } from '../../src/engine/batch-tools.ts'
import { Connector, type ConnectorStatus } from '../../src/engine/relay/connector/connector.ts'
import { dialEngine } from '../../src/engine/relay/connector/dial.ts'
import { openUserBrowser } from '../../src/engine/relay/connector/user-browser.ts'
import type { Link } from '../../src/core/link.ts'
import type { Policy } from '../../src/engine/relay/policy.ts'
import { until } from './session-steps.ts'

export interface Bringing {
  /** Address of the browser, `http://127.0.0.1:PORT`. */
  readonly browser: string
  /** `http://…` or `unix:/path`; or a way of one's own. */
  readonly engine: string | (() => Promise<Link>)
  readonly token?: string
  readonly name?: string
  readonly policy?: Policy
  readonly tabs?: readonly string[]
}

export interface Brought {
  readonly id: string
  readonly statuses: readonly ConnectorStatus[]
  /** Links that were dialled so far. */
  readonly links: readonly Link[]
  readonly running: Promise<void>
  stop(): Promise<void>
}

/** Resolves when the engine has taken the browser in. */
export async function bringBrowser(bringing: Bringing): Promise<Brought> {
  const { browser, engine, token, name, policy = 'no-lifecycle', tabs = [] } = bringing
  const statuses: ConnectorStatus[] = []
  const links: Link[] = []
  const connector = new Connector({
    name: name ?? null,
    wishes: { policy, tabs, kinds: ['console', 'network', 'page'], redact: true },
    browser: (signal) =>
      openUserBrowser(
        {
          wish: { cdp: browser, allowRemote: false },
          config: { cacheDir: '/nowhere', display: false },
          approveMs: 1000,
          tell: () => {},
        },
        signal,
      ),
    dial: async (signal) => {
      const dialled =
        typeof engine === 'string' ? await dialEngine({ engine, ...(token && { token }) }, signal) : await engine()
      links.push(dialled)
      return dialled
    },
    tools: makeBatchTools({}),
    onStatus: (status) => statuses.push(status),
  })
  const stop = new AbortController()
  const running = connector.run(stop.signal)
  let failed: unknown
  running.catch((error: unknown) => (failed = error))
  const first = () => statuses.find((status) => status.state === 'connected')
  await until(() => first() !== undefined || failed !== undefined)
  if (failed) throw failed
  const end = async () => {
    stop.abort()
    await running
  }
  return { id: first()!.sessionId, statuses, links, running, stop: end }
}

/** Runs batches of commands, observations and steps in the tabs of a user's browser. */
import type { Browser } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { onAccountOf } from '../../../core/process/orphans.ts'
import type { CommandBatch, CommandsResult } from '../../../core/shapes/commands.ts'
import type { Observation, ObserveRequest, StepRequest, StepResult } from '../../../core/shapes/observe.ts'
import { isMessage } from '../../cdp/message.ts'
import type { CdpChannel, CdpMessage } from '../../cdp/router.ts'
import { observeSession } from '../../browser/observe/observe.ts'
import { runStep } from '../../browser/observe/step.ts'
import { playwright } from '../../browser/pool/playwright.ts'
import { type BatchTools, runBatch } from '../../browser/batch/run-batch.ts'
import { Turns } from '../../browser/session/turns.ts'
import { type ReloadRequest, reloadTab } from './reload-tab.ts'
import { UserTabs } from './user-tabs.ts'

/** What can be asked of an executor, and what it gives. */
export interface Executions {
  run: { readonly request: CommandBatch; readonly result: CommandsResult }
  observe: { readonly request: ObserveRequest; readonly result: Observation }
  step: { readonly request: StepRequest; readonly result: StepResult }
}

export type ExecutionKind = keyof Executions

/** Runs here, or at the other end of a tunnel. */
export interface Executor {
  execute<K extends ExecutionKind>(
    kind: K,
    request: Executions[K]['request'],
    signal: AbortSignal,
  ): Promise<Executions[K]['result'] & { target_id: string | null }>
  close(): Promise<void>
}

export interface ExecutorGround {
  readonly sessionId: string
  /** A channel of the executor's own, within the policy. */
  readonly open: () => Promise<CdpChannel>
  readonly active: () => string | null
  /** Whether a tab is known to have crashed. */
  readonly crashed?: (targetId: string) => boolean
  readonly tools: BatchTools
}

/** The executor itself: Playwright on a channel, connected at the first command and for as long as the browser is there. */
export class LocalExecutor implements Executor {
  readonly #ground: ExecutorGround
  readonly #turns = new Turns()
  #tabs: Promise<{ browser: Browser; tabs: UserTabs }> | undefined

  constructor(ground: ExecutorGround) {
    this.#ground = ground
  }

  async execute<K extends ExecutionKind>(kind: K, request: Executions[K]['request'], signal: AbortSignal) {
    return this.#turns.take(async () => {
      const { tabs } = await (this.#tabs ??= this.#connect())
      const given = 'context' in request ? request.context?.['target_id'] : undefined
      const target = typeof given === 'string' ? given : undefined
      try {
        const result = await tabs.on(target, async () => ({
          ...(await this.#run(kind, request, tabs, signal)),
          // What is gone by now was worked in all the same.
          target_id: target ?? (await tabs.targetId().catch(() => null)),
        }))
        return result as Executions[K]['result'] & { target_id: string | null }
      } finally {
        if (tabs.outdated) await this.close()
      }
    }, signal)
  }

  async close(): Promise<void> {
    const tabs = this.#tabs
    this.#tabs = undefined
    // Leaves the browser and its tabs as they are. One that could not be reached needs no leaving.
    await tabs?.then(
      ({ browser }) => browser.close(),
      () => {},
    )
  }

  async #run(kind: ExecutionKind, request: Executions[ExecutionKind]['request'], tabs: UserTabs, signal: AbortSignal) {
    const session_id = this.#ground.sessionId
    if (kind === 'observe') return observeSession(tabs, request as ObserveRequest, signal)
    if (kind === 'step')
      return { ...(await runStep(tabs, request as StepRequest, this.#ground.tools, signal)), session_id }
    return { ...(await runBatch(tabs, request as CommandBatch, this.#ground.tools, signal)), session_id }
  }

  async #connect(): Promise<{ browser: Browser; tabs: UserTabs }> {
    try {
      const channel = await this.#ground.open()
      const ended = new AbortController()
      const transport = new ChannelTransport(channel, () => {
        this.#tabs = undefined
        ended.abort(
          new BaxError('relay_disconnected', 'the way to the browser broke', { details: { outcome: 'unknown' } }),
        )
      })
      const options = { isLocal: true, noDefaults: true, timeout: limits.pool.launchMs }
      const browser = await playwright().chromium.connectOverCDP(transport as never, options)
      const [context] = browser.contexts()
      if (!context) throw new BaxError('browser_failed', 'the browser has no window to work in')
      const { sessionId, active, open, crashed = () => false } = this.#ground
      const reload = (request: ReloadRequest) => reloadTab(open, request)
      return { browser, tabs: new UserTabs({ sessionId, context, active, crashed, reload, ended: ended.signal }) }
    } catch (error) {
      this.#tabs = undefined
      throw error
    }
  }
}

/** Playwright's transport over a channel. The connector may be anybody's: what is no message ends the channel. */
class ChannelTransport {
  onmessage: ((message: object) => void) | undefined
  onclose: (() => void) | undefined
  readonly #channel: CdpChannel

  constructor(channel: CdpChannel, onLost: () => void) {
    this.#channel = channel
    channel.onEvent((message) => this.#pass(message))
    channel.onClose(() => {
      onLost()
      setImmediate(() => this.onclose?.())
    })
  }

  send(message: CdpMessage): void {
    this.#channel.post(message, (answer) => this.#pass(answer))
  }

  close(): void {
    this.#channel.close()
  }

  /** Every message in a task of its own, as Playwright's own transports do. */
  #pass(message: CdpMessage): void {
    const end = () => this.close()
    if (isMessage(message)) setImmediate(() => onAccountOf(end, () => this.onmessage?.(message)))
    else end()
  }
}

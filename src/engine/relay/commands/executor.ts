/** Runs batches of commands, observations and steps in the tabs of a user's browser. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withErrorHandler } from '../../../core/process/unhandled-errors.ts'
import type { CommandBatch, CommandsResult } from '../../../core/shapes/commands.ts'
import type { Observation, ObserveRequest, StepRequest, StepResult } from '../../../core/shapes/observe.ts'
import { isMessage } from '../../cdp/message.ts'
import type { CdpChannel, CdpMessage } from '../../cdp/router.ts'
import { observeSession } from '../../browser/observe/observe.ts'
import { runStep } from '../../browser/batch/step.ts'
import { enableEmulation, OverrideTransport } from '../../browser/cdp/override-transport.ts'
import { playwright } from '../../browser/cdp/playwright.ts'
import { type BatchTools, runBatch } from '../../browser/batch/run-batch.ts'
import { CommandQueue } from '../../browser/session/command-queue.ts'
import { continueTabIds } from '../../browser/tabs/tab-ids.ts'
import type { RelayPolicy } from '../../../core/relay-names.ts'
import { UserDownloads } from './user-downloads.ts'
import { UserTabs } from './user-tabs.ts'

/** Requests and results of an executor, by kind. */
export interface Executions {
  run: { readonly request: CommandBatch; readonly result: CommandsResult }
  observe: { readonly request: ObserveRequest; readonly result: Observation }
  step: { readonly request: StepRequest; readonly result: StepResult }
}

export type ExecutionKind = keyof Executions

/** Runs commands in this process, or at the other end of a tunnel. */
export interface Executor {
  execute<K extends ExecutionKind>(
    kind: K,
    request: Executions[K]['request'],
    signal: AbortSignal,
  ): Promise<Executions[K]['result'] & { target_id: string | null }>
  close(): Promise<void>
}

export interface ExecutorOptions {
  readonly sessionId: string
  /** Opens the executor's own channel, which enforces the policy. */
  readonly open: () => Promise<CdpChannel>
  /** Tab that the user is viewing. */
  readonly active: () => string | null
  /** State of a tab. Playwright does not report what happened to a tab before it connected. */
  readonly tab?: (targetId: string) => { readonly responsive: boolean; readonly crashed: boolean } | undefined
  /** Updates the states of all tabs. */
  readonly refresh?: () => Promise<void>
  readonly policy: RelayPolicy
  readonly tools: BatchTools
}

/** Executor that drives Playwright over a channel, connected from the first command until the browser disconnects. */
export class LocalExecutor implements Executor {
  readonly #options: ExecutorOptions
  readonly #turns = new CommandQueue()
  #lastContext: BrowserContext | undefined
  #tabs: Promise<{ browser: Browser; tabs: UserTabs }> | undefined

  constructor(options: ExecutorOptions) {
    this.#options = options
  }

  async execute<K extends ExecutionKind>(kind: K, request: Executions[K]['request'], signal: AbortSignal) {
    return this.#turns.run(async () => {
      const { tabs } = await (this.#tabs ??= this.#connect())
      const requested = 'context' in request ? request.context?.['target_id'] : undefined
      const target = typeof requested === 'string' ? requested : undefined
      try {
        const result = await tabs.on(target, async () => ({
          ...(await this.#run(kind, request, tabs, signal)),
          // A tab that has closed meanwhile still gets reported as the target.
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
    // Disconnects only: the browser and its tabs stay open. A failed connection needs no cleanup.
    await tabs?.then(
      ({ browser }) => browser.close(),
      () => {},
    )
  }

  async #run(kind: ExecutionKind, request: Executions[ExecutionKind]['request'], tabs: UserTabs, signal: AbortSignal) {
    const session_id = this.#options.sessionId
    if (kind === 'observe') return observeSession(tabs, request as ObserveRequest, signal)
    if (kind === 'step')
      return { ...(await runStep(tabs, request as StepRequest, this.#options.tools, signal)), session_id }
    return { ...(await runBatch(tabs, request as CommandBatch, this.#options.tools, signal)), session_id }
  }

  /**
   * Checks the tabs before Playwright connects, which would wait for those that do not answer; the channel withholds the
   * ones that are known.
   */
  async #untilResponsive(): Promise<void> {
    const { active, tab, refresh } = this.#options
    const hangs = () => {
      const state = tab?.(active() ?? '')
      return state?.responsive === false && !state.crashed
    }
    await refresh?.()
    for (const end = performance.now() + responsiveMs; hangs() && performance.now() < end; await refresh?.())
      await sleep(pollMs)
  }

  async #connect(): Promise<{ browser: Browser; tabs: UserTabs }> {
    try {
      await this.#untilResponsive()
      const channel = await this.#options.open()
      const ended = new AbortController()
      const downloads = new UserDownloads()
      const transport = new ChannelTransport(channel, downloads, () => {
        this.#tabs = undefined
        ended.abort(
          new BaxError('relay_disconnected', 'lost the browser connection', { details: { outcome: 'unknown' } }),
        )
      })
      const connect = { isLocal: true, noDefaults: true, timeout: limits.pool.launchMs }
      const overriding = new OverrideTransport(transport)
      const browser = await playwright().chromium.connectOverCDP(overriding, connect).catch(rethrowTimeout)
      const [context] = browser.contexts()
      if (!context) throw new BaxError('browser_failed', 'the browser has no window')
      enableEmulation(context, overriding.of())
      // Without the events, no download is reported as completed.
      channel.post(
        { method: 'Browser.setDownloadBehavior', params: { behavior: 'default', eventsEnabled: true } },
        () => {},
      )
      if (this.#lastContext) continueTabIds(context, this.#lastContext)
      this.#lastContext = context
      return {
        browser,
        tabs: new UserTabs({ ...this.#options, context, downloads: downloads.watch, ended: ended.signal }),
      }
    } catch (error) {
      this.#tabs = undefined
      throw error
    }
  }
}

/** Time for the tab that the user is viewing to answer, in milliseconds: the machine may be busy. */
const responsiveMs = 3000
const pollMs = 50

function rethrowTimeout(cause: Error): never {
  if (cause.name !== 'TimeoutError') throw cause
  throw new BaxError('timeout', 'a tab of the browser does not answer', {
    cause,
    hint: 'close dialogs that are open in the browser, and tabs that hang',
  })
}

/** Playwright transport over a channel. The connector is not trusted: an invalid message closes the channel. */
class ChannelTransport {
  onmessage: ((message: object) => void) | undefined
  onclose: (() => void) | undefined
  readonly #channel: CdpChannel

  constructor(channel: CdpChannel, downloads: UserDownloads, onLost: () => void) {
    this.#channel = channel
    channel.onEvent((message) => {
      if (isMessage(message)) downloads.handle(message)
      this.#deliver(message)
    })
    channel.onClose(() => {
      onLost()
      setImmediate(() => this.onclose?.())
    })
  }

  send(message: CdpMessage): void {
    this.#channel.post(message, (answer) => this.#deliver(answer))
  }

  close(): void {
    this.#channel.close()
  }

  /** Delivers each message in its own task, as Playwright's own transports do. */
  #deliver(message: CdpMessage): void {
    const end = () => this.close()
    if (isMessage(message)) setImmediate(() => withErrorHandler(end, () => this.onmessage?.(message)))
    else end()
  }
}

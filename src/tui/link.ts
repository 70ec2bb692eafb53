/** The connection of the UI to its engine: sends calls, detects a lost engine and reconnects. */
import {
  type Answer,
  type Calls,
  callsOf,
  type FrameOf,
  type Input,
  type OperationName,
  type StreamName,
  type Unchecked,
} from '../client/calls.ts'
import { asBaxError, BaxError } from '../core/errors/errors.ts'
import { withDeadline } from '../core/process/deadline.ts'
import type { TuiHost } from './host.ts'

export interface LinkState {
  /** `stopped`: the engine was stopped on purpose and is started again only by the user. */
  readonly is: 'opening' | 'up' | 'lost' | 'stopped'
  /** Number of connections so far; data read in an earlier epoch is outdated. */
  readonly epoch: number
  /** Error of the last attempt while the engine is not up. */
  readonly problem: string | null
}

/** Delays between attempts, in milliseconds; the last one repeats. */
const pauses = [250, 500, 1000, 2000] as const

export class Link {
  readonly host: TuiHost
  readonly #calls: Calls
  readonly #listeners = new Set<() => void>()
  #state: LinkState = { is: 'opening', epoch: 0, problem: null }
  #timer: NodeJS.Timeout | undefined
  #tries = 0
  readonly #closed = new AbortController()

  constructor(host: TuiHost) {
    this.host = host
    this.#calls = callsOf(host.transport, host.manifest.operations)
  }

  /** Connects for the first time; starts a local engine when none is running. */
  open(): void {
    void this.#try(this.host.startingTransport)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#closed.abort()
  }

  readonly state = (): LinkState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Calls one operation. Reconnects after `engine_unreachable`. @throws BaxError with the engine's code. */
  async call<Name extends OperationName>(name: Name, input: Input<Name>, signal?: AbortSignal): Promise<Answer<Name>> {
    const { signal: closed } = this.#closed
    const work = (either: AbortSignal) => this.#calls.ask(name, input, { signal: either })
    return this.withReconnect(() =>
      withDeadline(work, { signal: signal ? [signal, closed] : closed, cooperative: true }),
    )
  }

  /** Opens a stream by the name of its operation; null when it has ended. */
  async follow<Name extends StreamName>(
    name: Name,
    input: Input<Name> | Unchecked,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<FrameOf<Name>> | null> {
    const options = { signal: AbortSignal.any([signal, this.#closed.signal]) }
    return this.withReconnect(() => this.#calls.open(name, input, options))
  }

  /** Runs work on the engine and reconnects when the engine is unreachable. */
  async withReconnect<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      this.handleError(error)
      throw error
    }
  }

  /** Reconnects when the error says that the engine is unreachable. */
  handleError(error: unknown): void {
    if (error instanceof BaxError && error.code === 'engine_unreachable' && this.#state.is === 'up') this.#lose(error)
  }

  /** Reconnects at once, and starts an engine that was stopped. */
  retry(): void {
    if (this.#state.is === 'up' || this.#closed.signal.aborted) return
    clearTimeout(this.#timer)
    this.#set({ is: 'opening', problem: null })
    void this.#try(this.host.startingTransport)
  }

  async #try(transport: TuiHost['startingTransport']): Promise<void> {
    const { signal } = this.#closed
    try {
      await callsOf(transport, this.host.manifest.operations).ask('health', {}, { signal })
      this.#tries = 0
      this.#set({ is: 'up', epoch: this.#state.epoch + 1, problem: null })
    } catch (error) {
      if (!signal.aborted) this.#lose(error)
    }
  }

  #lose(error: unknown): void {
    const fate = this.#state.epoch === 0 ? 'lost' : this.host.whyUnreachable()
    this.#set({ is: fate === 'stopped' ? 'stopped' : 'lost', problem: asBaxError(error).message })
    const pause = pauses[Math.min(this.#tries, pauses.length - 1)]
    this.#tries += 1
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      const mayStart = this.#state.epoch === 0 || this.host.whyUnreachable() === 'lost'
      void this.#try(mayStart ? this.host.startingTransport : this.host.transport)
    }, pause)
  }

  #set(change: Partial<LinkState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of this.#listeners) listener()
  }
}

/** The connection of the UI to its engine: sends calls, detects a lost engine and reconnects. */
import type { Frame } from '../core/operation/call.ts'
import { call, type Client, openStream } from '../client/client.ts'
import { asBaxError, BaxError } from '../core/errors/errors.ts'
import { withDeadline } from '../core/process/deadline.ts'
import type { Operations } from '../operations/index.ts'
import type { TuiHost } from './host.ts'

export interface LinkState {
  /** `stopped`: the engine was stopped on purpose and is started again only by the user. */
  readonly is: 'opening' | 'up' | 'lost' | 'stopped'
  /** Number of connections so far; data read in an earlier epoch is outdated. */
  readonly epoch: number
  /** Error of the last attempt while the engine is not up. */
  readonly problem: string | null
}

export type Input<Name extends keyof Operations> = NonNullable<Parameters<Client[Name]>[0]>
export type Answer<Name extends keyof Operations> = Awaited<ReturnType<Client[Name]>>

/** Delays between attempts, in milliseconds; the last one repeats. */
const pauses = [250, 500, 1000, 2000] as const

export class Link {
  readonly host: TuiHost
  readonly #addresses: ReadonlyMap<string, string>
  readonly #listeners = new Set<() => void>()
  #state: LinkState = { is: 'opening', epoch: 0, problem: null }
  #timer: NodeJS.Timeout | undefined
  #tries = 0
  readonly #closed = new AbortController()

  constructor(host: TuiHost) {
    this.host = host
    this.#addresses = new Map(host.manifest.operations.map(({ name, http }) => [name, http]))
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
  async call<Name extends keyof Operations & string>(
    name: Name,
    input: Input<Name>,
    signal?: AbortSignal,
  ): Promise<Answer<Name>> {
    const { signal: closed } = this.#closed
    const work = (either: AbortSignal) =>
      call(this.host.transport, this.#address(name), input as Record<string, unknown>, { signal: either })
    return this.withReconnect(() =>
      withDeadline(work, { signal: signal ? [signal, closed] : closed, cooperative: true }),
    ) as Promise<Answer<Name>>
  }

  /** Opens a stream by the name of its operation; null when it has ended. */
  async follow(
    name: string,
    input: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<Frame> | null> {
    const options = { signal: AbortSignal.any([signal, this.#closed.signal]) }
    return this.withReconnect(() => openStream(this.host.transport, this.#address(name), input, options))
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

  #address(name: string): string {
    const http = this.#addresses.get(name)
    if (http === undefined) throw new BaxError('internal_error', `the manifest has no operation ${name}`)
    return http
  }

  async #try(transport: TuiHost['startingTransport']): Promise<void> {
    const { signal } = this.#closed
    try {
      await call(transport, this.#address('health'), {}, { signal })
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

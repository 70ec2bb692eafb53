/** The UI's way to its engine: calls it, notices when it is gone, and comes back to it by itself. */
import { call, openStream } from '../client/client.ts'
import { asBaxError, BaxError } from '../core/errors/errors.ts'
import type { Frame } from '../core/operation/stream.ts'
import { withDeadline } from '../core/process/deadline.ts'
import type { Operations } from '../operations/index.ts'
import type { Client } from '../client/client.ts'
import type { Desk } from './desk.ts'

export interface LinkState {
  /** `stopped`: the engine was ended on purpose, and is started again only when the user says so. */
  readonly is: 'opening' | 'up' | 'lost' | 'stopped'
  /** Grows each time the engine is found again: what was read from it before is old. */
  readonly epoch: number
  /** What the last try said, while it is not up. */
  readonly problem: string | null
}

type Input<Name extends keyof Operations> = NonNullable<Parameters<Client[Name]>[0]>
type Answer<Name extends keyof Operations> = Awaited<ReturnType<Client[Name]>>

/** Pauses between tries in milliseconds; the last one goes on. */
const pauses = [250, 500, 1000, 2000] as const

export class Link {
  readonly desk: Desk
  readonly #addresses: ReadonlyMap<string, string>
  readonly #listeners = new Set<() => void>()
  #state: LinkState = { is: 'opening', epoch: 0, problem: null }
  #timer: NodeJS.Timeout | undefined
  #tries = 0
  readonly #closed = new AbortController()

  constructor(desk: Desk) {
    this.desk = desk
    this.#addresses = new Map(desk.manifest.operations.map(({ name, http }) => [name, http]))
  }

  /** Goes to the engine for the first time, starting one where that is the home's way. */
  open(): void {
    void this.#try(this.desk.begin)
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

  /** Calls one operation. @throws BaxError with the engine's code; `engine_unreachable` starts the way back. */
  async ask<Name extends keyof Operations & string>(
    name: Name,
    input: Input<Name>,
    signal?: AbortSignal,
  ): Promise<Answer<Name>> {
    const { signal: closed } = this.#closed
    const work = (either: AbortSignal) =>
      call(this.desk.join, this.#address(name), input as Record<string, unknown>, { signal: either })
    return this.watched(() =>
      withDeadline(work, { signal: signal ? [signal, closed] : closed, cooperative: true }),
    ) as Promise<Answer<Name>>
  }

  /** Opens a stream by the name of its operation; null when there is nothing to follow any more. */
  async follow(
    name: string,
    input: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<Frame> | null> {
    const options = { signal: AbortSignal.any([signal, this.#closed.signal]) }
    return this.watched(() => openStream(this.desk.join, this.#address(name), input, options))
  }

  /** Does something with the engine and notices when it cannot be reached. */
  async watched<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      this.noticed(error)
      throw error
    }
  }

  /** Looks at an error of something that was done with the engine. */
  noticed(error: unknown): void {
    if (error instanceof BaxError && error.code === 'engine_unreachable' && this.#state.is === 'up') this.#lose(error)
  }

  /** Starts an engine that was stopped, or tries at once. */
  retry(): void {
    if (this.#state.is === 'up' || this.#closed.signal.aborted) return
    clearTimeout(this.#timer)
    this.#set({ is: 'opening', problem: null })
    void this.#try(this.desk.begin)
  }

  #address(name: string): string {
    const http = this.#addresses.get(name)
    if (http === undefined) throw new BaxError('internal_error', `the manifest has no operation ${name}`)
    return http
  }

  async #try(transport: Desk['begin']): Promise<void> {
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
    const fate = this.#state.epoch === 0 ? 'lost' : this.desk.fate()
    this.#set({ is: fate === 'stopped' ? 'stopped' : 'lost', problem: asBaxError(error).message })
    const pause = pauses[Math.min(this.#tries, pauses.length - 1)]
    this.#tries += 1
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#try(this.#wayBack()), pause)
  }

  #wayBack(): Desk['begin'] {
    return this.#state.epoch === 0 || this.desk.fate() === 'lost' ? this.desk.begin : this.desk.join
  }

  #set(change: Partial<LinkState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of this.#listeners) listener()
  }
}

/** The fleet: browsers by kind, the places in them, and those who wait for one. */
import type { EngineConfig, PoolConfig } from '../../core/config.ts'
import { limits } from '../../core/limits.ts'
import type { EngineStatus } from '../../core/shapes/engine.ts'
import type { Egress } from '../egress/egress.ts'
import type { BrowserKind } from './flags.ts'
import { type LocatedBrowser, locateBrowser } from './locate.ts'
import { BrowserWorker } from './worker.ts'

/** A place held in a browser that runs or is about to. */
export interface Seat {
  /** The browser was being started when the seat was given. */
  readonly launching: boolean
  /** Settles when the browser has answered for the first time. */
  readonly found: Promise<void>
  readonly worker: Promise<BrowserWorker>
  /** Gives the place to the next in the queue; does nothing the second time. */
  free(): void
}

/** Someone in the queue for a seat. */
export interface Waiting {
  readonly seat: Promise<Seat>
  /** 1 = next; null once it has a seat or has given up. */
  readonly position: number | null
  leave(): void
}

/** One browser, from the decision to launch it to its end. */
interface Berth {
  readonly kind: BrowserKind
  readonly found: Promise<void>
  readonly worker: Promise<BrowserWorker>
  running: BrowserWorker | undefined
  seats: number
  retire: NodeJS.Timeout | undefined
}

interface Waiter {
  readonly resolve: (seat: Seat) => void
}

export class Pool {
  readonly #config: EngineConfig
  readonly #egress: Egress
  readonly #size: PoolConfig
  readonly #berths = new Map<BrowserKind, Berth[]>()
  readonly #queues = new Map<BrowserKind, Waiter[]>()
  readonly #located = new Map<string, Promise<LocatedBrowser>>()
  #launched = 0
  #closed = false

  constructor(config: EngineConfig, egress: Egress) {
    this.#config = config
    this.#egress = egress
    const { warm, contextsPerBrowser, browsers } = limits.pool
    // A command with an engine of its own ends before a second session could use what is kept ready.
    const size = { warm: config.home === 'embedded' ? 0 : warm, contextsPerBrowser, browsers }
    this.#size = { ...size, ...config.pool }
  }

  /** A free place in a browser that runs or is being started, or the first one of its kind; undefined when one must wait. */
  reserve(kind: BrowserKind): Seat | undefined {
    if (this.#queueOf(kind).length > 0) return undefined
    return this.#freeSeat(kind) ?? (this.#berthsOf(kind).length === 0 ? this.#launch(kind) : undefined)
  }

  /** A place in the queue; another browser is launched for it when there may be one more. */
  queue(kind: BrowserKind): Waiting {
    const queue = this.#queueOf(kind)
    const { promise, resolve } = withResolver<Seat>()
    const waiter: Waiter = { resolve }
    queue.push(waiter)
    this.#serve(kind)
    return {
      seat: promise,
      get position() {
        const at = queue.indexOf(waiter)
        return at < 0 ? null : at + 1
      },
      leave() {
        const at = queue.indexOf(waiter)
        if (at >= 0) queue.splice(at, 1)
      },
    }
  }

  /** Looks for the browser of a kind once; a failure is not remembered, since it may be mended meanwhile. */
  locate(kind: BrowserKind): Promise<LocatedBrowser> {
    let located = this.#located.get(kind)
    if (!located) {
      const { browser, cacheDir } = this.#config
      const need = { headless: kind !== 'headful', stealth: kind === 'stealth' }
      located = locateBrowser(need, { ...(browser !== undefined && { browser }), cacheDir })
      this.#located.set(kind, located)
      located.catch(() => this.#located.delete(kind))
    }
    return located
  }

  status(): EngineStatus['browsers'] {
    return [...this.#berths.values()].flat().flatMap(({ kind, running, seats }) =>
      running
        ? [
            {
              worker_id: running.id,
              kind,
              product: running.product,
              pid: running.pid,
              sessions: seats,
              warm: running.warm,
            },
          ]
        : [],
    )
  }

  async close(): Promise<void> {
    this.#closed = true
    const all = [...this.#berths.values()].flat()
    this.#berths.clear()
    await Promise.all(
      all.map(async ({ worker, retire }) => {
        clearTimeout(retire)
        // One that never came up has cleaned up after itself.
        const running = await worker.catch(() => undefined)
        await running?.end()
      }),
    )
  }

  #freeSeat(kind: BrowserKind): Seat | undefined {
    const berth = this.#berthsOf(kind).find(({ seats }) => seats < this.#size.contextsPerBrowser)
    return berth && this.#seat(berth)
  }

  #launch(kind: BrowserKind): Seat {
    const { promise: found, resolve: onFound, reject: onMissed } = withResolver<void>()
    // Its failure is the worker's too, and told there.
    found.catch(() => {})
    const id = `${this.#config.home}-${++this.#launched}`
    const { log, writeAnywhere: filesAllowed } = this.#config
    const worker = this.locate(kind).then((browser) =>
      BrowserWorker.launch({ id, kind, browser, egress: this.#egress, filesAllowed, onFound, log }),
    )
    const berth: Berth = { kind, found, worker, running: undefined, seats: 0, retire: undefined }
    this.#berthsOf(kind).push(berth)
    worker.then(
      (running) => {
        berth.running = running
        running.upstream.onClose(() => this.#lose(berth))
        this.#config.log('info', 'browser started', { worker: id, product: running.product, pid: running.pid })
        this.#warm(berth)
      },
      (error: Error) => {
        this.#located.delete(kind)
        this.#config.log('error', 'browser did not start', { worker: id, error: error.message })
        onMissed(error)
        this.#remove(berth)
      },
    )
    return this.#seat(berth)
  }

  #seat(berth: Berth): Seat {
    berth.seats++
    clearTimeout(berth.retire)
    this.#warm(berth)
    let held = true
    return {
      launching: berth.running === undefined,
      found: berth.found,
      worker: berth.worker,
      free: () => {
        if (!held) return
        held = false
        berth.seats--
        this.#serve(berth.kind)
        this.#warm(berth)
        if (berth.seats === 0) this.#retireLater(berth)
      },
    }
  }

  /** Gives free places to those who wait, launching another browser while there may be one. */
  #serve(kind: BrowserKind): void {
    const queue = this.#queueOf(kind)
    while (queue.length > 0 && !this.#closed) {
      const more = this.#berthsOf(kind).length < this.#size.browsers
      const seat = this.#freeSeat(kind) ?? (more ? this.#launch(kind) : undefined)
      if (!seat) return
      queue.shift()!.resolve(seat)
    }
  }

  /** Ready pages never take a place that a session could have. */
  #warm(berth: Berth): void {
    // A window that nobody asked for must not show up.
    const wanted = berth.kind === 'headful' || this.#closed ? 0 : this.#size.warm
    berth.running?.keepWarm(Math.min(wanted, this.#size.contextsPerBrowser - berth.seats))
  }

  #retireLater(berth: Berth): void {
    clearTimeout(berth.retire)
    berth.retire = setTimeout(() => {
      if (berth.seats > 0 || this.#berthsOf(berth.kind).length < 2 || !this.#remove(berth)) return
      this.#end(berth.running!)
    }, limits.pool.idleMs).unref()
  }

  /** A browser that is gone: what is left of it is cleaned up, and the next session gets another. */
  #lose(berth: Berth): void {
    if (this.#remove(berth)) this.#config.log('warn', 'browser lost', { worker: berth.running!.id })
    this.#end(berth.running!)
  }

  #end(worker: BrowserWorker): void {
    worker.end().catch((error: Error) => {
      this.#config.log('error', 'what a browser left could not be removed', { worker: worker.id, error: error.message })
    })
  }

  #remove(berth: Berth): boolean {
    const berths = this.#berthsOf(berth.kind)
    const at = berths.indexOf(berth)
    if (at < 0) return false
    berths.splice(at, 1)
    clearTimeout(berth.retire)
    this.#serve(berth.kind)
    return true
  }

  #berthsOf(kind: BrowserKind): Berth[] {
    return this.#berths.get(kind) ?? setAndGet(this.#berths, kind, [])
  }

  #queueOf(kind: BrowserKind): Waiter[] {
    return this.#queues.get(kind) ?? setAndGet(this.#queues, kind, [])
  }
}

function setAndGet<K, V>(map: Map<K, V>, key: K, value: V): V {
  map.set(key, value)
  return value
}

function withResolver<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: Error) => void } {
  let resolve!: (value: T) => void
  let reject!: (error: Error) => void
  const promise = new Promise<T>((settle, fail) => {
    resolve = settle
    reject = fail
  })
  return { promise, resolve, reject }
}

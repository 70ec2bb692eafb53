/** The fleet: browsers by kind, the places in them, and those who wait for one. */
import type { EngineConfig, PoolConfig } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { EngineStatus } from '../../../core/shapes/engine.ts'
import type { Egress } from '../../egress/egress.ts'
import { type BrowserKind, hasWindows, hidesAutomation } from './flags.ts'
import { type LocatedBrowser, locateBrowser } from '../install/locate.ts'
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

/** A place that a seat holds, and whether the seat is still in use. */
interface Hold {
  berth: Berth
  free: () => void
  given: boolean
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
    const { warm, contextsPerBrowser, browsers, health } = limits.pool
    // A command with an engine of its own ends before a second session could use what is kept ready.
    const size = { warm: config.home === 'embedded' ? 0 : warm, contextsPerBrowser, browsers, health }
    this.#size = { ...size, ...config.pool }
  }

  /** A free place in a browser that runs or is being started, or the first one of its kind; undefined when one must wait. */
  reserve(kind: BrowserKind): Seat | undefined {
    if (this.#queueOf(kind).length > 0) return undefined
    const berth = this.#freeBerth(kind) ?? (this.#usableOf(kind).length === 0 ? this.#launch(kind) : undefined)
    return berth && this.#seat(berth)
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
      const need = { headless: !hasWindows(kind), stealth: hidesAutomation(kind) }
      located = locateBrowser(need, { ...(browser !== undefined && { browser }), cacheDir })
      this.#located.set(kind, located)
      located.catch(() => this.#located.delete(kind))
    }
    return located
  }

  status(): EngineStatus['browsers'] {
    return [...this.#berths.values()].flat().flatMap(({ kind, running, seats: sessions }) => {
      if (!running) return []
      const { id: worker_id, product, pid, warm, health } = running
      return [{ worker_id, kind, product, pid, sessions, warm, responsive: health.responsive }]
    })
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

  #freeBerth(kind: BrowserKind): Berth | undefined {
    return this.#usableOf(kind).find(({ seats }) => seats < this.#size.contextsPerBrowser)
  }

  /** Browsers that run and answer, or are being started. */
  #usableOf(kind: BrowserKind): Berth[] {
    return this.#berthsOf(kind).filter(({ running }) => running?.health.responsive !== false)
  }

  #launch(kind: BrowserKind): Berth {
    const { promise: found, resolve: onFound, reject: onMissed } = withResolver<void>()
    // Its failure is the worker's too, and told there.
    found.catch(() => {})
    const id = `${this.#config.home}-${++this.#launched}`
    const { log, writeAnywhere: filesAllowed } = this.#config
    const health = { times: this.#size.health, onChange: (answers: boolean) => this.#changed(berth, answers) }
    const worker = this.locate(kind).then((browser) =>
      BrowserWorker.launch({ id, kind, browser, egress: this.#egress, filesAllowed, onFound, health, log }),
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
    return berth
  }

  #seat(first: Berth): Seat {
    const hold = { berth: first, free: this.#hold(first), given: true }
    const worker = this.#answering(hold)
    // Reported where the seat is used.
    worker.catch(() => {})
    const free = () => {
      hold.given = false
      hold.free()
    }
    return { launching: first.running === undefined, found: first.found, worker, free }
  }

  /** The browser of a seat; a seat in one that does not answer moves to another one. */
  async #answering(hold: Hold): Promise<BrowserWorker> {
    for (;;) {
      const { kind, running } = hold.berth
      if (!running) return hold.berth.worker
      if (await running.health.check()) return running
      hold.free()
      const more = this.#usableOf(kind).length < this.#size.browsers && !this.#closed
      const next = hold.given ? (this.#freeBerth(kind) ?? (more ? this.#launch(kind) : undefined)) : undefined
      if (!next) {
        throw new BaxError('no_capacity', 'the browser does not answer, and all others are full', {
          retryAfterSecs: Math.ceil(this.#size.health.graceMs / 1000),
        })
      }
      hold.berth = next
      hold.free = this.#hold(next)
    }
  }

  /** Takes a place; the function that it returns gives it back, once. */
  #hold(berth: Berth): () => void {
    berth.seats++
    clearTimeout(berth.retire)
    this.#warm(berth)
    let held = true
    return () => {
      if (!held) return
      held = false
      berth.seats--
      this.#serve(berth.kind)
      this.#warm(berth)
      if (berth.seats === 0) this.#retireLater(berth)
    }
  }

  #changed(berth: Berth, answers: boolean): void {
    const facts = { worker: berth.running?.id, pid: berth.running?.pid }
    this.#config.log('warn', answers ? 'a browser answers again' : 'a browser does not answer', facts)
    this.#serve(berth.kind)
  }

  /** Gives free places to those who wait, launching another browser while there may be one. */
  #serve(kind: BrowserKind): void {
    const queue = this.#queueOf(kind)
    while (queue.length > 0 && !this.#closed) {
      const more = this.#usableOf(kind).length < this.#size.browsers
      const berth = this.#freeBerth(kind) ?? (more ? this.#launch(kind) : undefined)
      if (!berth) return
      queue.shift()!.resolve(this.#seat(berth))
    }
  }

  /** Ready pages never take a place that a session could have. */
  #warm(berth: Berth): void {
    // A window that nobody asked for must not show up.
    const wanted = hasWindows(berth.kind) || this.#closed ? 0 : this.#size.warm
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

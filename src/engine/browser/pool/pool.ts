/** Browser pool: browsers by kind, their slots, and the queue for slots. */
import type { EngineConfig, PoolConfig } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { EngineStatus } from '../../../core/shapes/engine.ts'
import { type Origin, Turns } from '../../../core/process/turns.ts'
import type { Egress } from '../../egress/egress.ts'
import { type BrowserKind, hasWindows, hidesAutomation } from './flags.ts'
import { type LocatedBrowser, locateBrowser } from '../install/locate.ts'
import { BrowserWorker } from './worker.ts'

/** A reserved slot in a browser that runs or is being launched. */
export interface Slot {
  /** Whether the browser was still launching when the slot was reserved. */
  readonly launching: boolean
  /** Settles on the first response of the browser. */
  readonly found: Promise<void>
  readonly worker: Promise<BrowserWorker>
  /** Frees the slot for the next in the queue; does nothing the second time. */
  free(): void
}

/** A queued request for a slot. */
export interface SlotRequest {
  readonly slot: Promise<Slot>
  /** Position in the queue, 1 for the next; null when it has a slot or has left the queue. */
  readonly position: number | null
  leave(): void
}

/** One browser of the pool, from its launch to its end. */
interface PooledBrowser {
  readonly kind: BrowserKind
  readonly found: Promise<void>
  readonly worker: Promise<BrowserWorker>
  running: BrowserWorker | undefined
  slotsInUse: number
  retire: NodeJS.Timeout | undefined
}

/** Browsers of one kind, and the requests that wait for a slot in them. */
interface Fleet {
  readonly browsers: PooledBrowser[]
  /** Keys take turns, so that one with many requests does not delay the others. */
  readonly queue: Turns<(slot: Slot) => void>
}

/** The browser that a slot is in, which may change, and whether the slot is still in use. */
interface Hold {
  browser: PooledBrowser
  free: () => void
  isInUse: boolean
}

export class Pool {
  readonly #config: EngineConfig
  readonly #egress: Egress
  readonly #size: PoolConfig
  readonly #fleets = new Map<BrowserKind, Fleet>()
  readonly #located = new Map<string, Promise<LocatedBrowser>>()
  #launched = 0
  #closed = false

  constructor(config: EngineConfig, egress: Egress) {
    this.#config = config
    this.#egress = egress
    const { warm, contextsPerBrowser, browsers, health } = limits.pool
    // A command with an embedded engine ends before a second session could use a warm context.
    const size = { warm: config.home === 'embedded' ? 0 : warm, contextsPerBrowser, browsers, health }
    this.#size = { ...size, ...config.pool }
  }

  /** Reserves a free slot, launching the first browser of its kind; returns undefined when the request has to queue. */
  reserve(kind: BrowserKind): Slot | undefined {
    if (this.#fleetOf(kind).queue.size > 0) return undefined
    const browser = this.#withFreeSlot(kind) ?? (this.#usableOf(kind).length === 0 ? this.#launch(kind) : undefined)
    return browser && this.#reserveIn(browser)
  }

  /** Queues a request of a key for a slot; launches another browser for it if the limit allows. */
  queue(kind: BrowserKind, owner: Origin): SlotRequest {
    const { queue } = this.#fleetOf(kind)
    let onSlot!: (slot: Slot) => void
    const slot = new Promise<Slot>((resolve) => queue.add((onSlot = resolve), owner))
    this.#serve(kind)
    return {
      slot,
      get position() {
        return queue.positionOf(onSlot) + 1 || null
      },
      leave() {
        queue.remove(onSlot)
      },
    }
  }

  /** Locates the browser of a kind once; failures are not cached, since the user may fix them. */
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
    const all = [...this.#fleets.values()].flatMap(({ browsers }) => browsers)
    return all.flatMap(({ kind, running, slotsInUse: sessions }) => {
      if (!running) return []
      const { id, product, pid, warm, health } = running
      const worker_id = this.#config.workerId?.() ?? id
      return [{ worker_id, kind, product, pid, sessions, warm, responsive: health.responsive }]
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    const all = [...this.#fleets.values()].flatMap(({ browsers }) => browsers.splice(0))
    await Promise.all(
      all.map(async ({ worker, retire }) => {
        clearTimeout(retire)
        // A failed launch has already cleaned up.
        const running = await worker.catch(() => undefined)
        await running?.end()
      }),
    )
  }

  #withFreeSlot(kind: BrowserKind): PooledBrowser | undefined {
    return this.#usableOf(kind).find(({ slotsInUse }) => slotsInUse < this.#size.contextsPerBrowser)
  }

  /** Launches another browser if no other one has a free slot and the limit allows. */
  #withFreeSlotOrNew(kind: BrowserKind): PooledBrowser | undefined {
    const mayLaunch = this.#usableOf(kind).length < this.#size.browsers && !this.#closed
    return this.#withFreeSlot(kind) ?? (mayLaunch ? this.#launch(kind) : undefined)
  }

  /** Returns the browsers that are responsive or launching. */
  #usableOf(kind: BrowserKind): PooledBrowser[] {
    return this.#fleetOf(kind).browsers.filter(({ running }) => running?.health.responsive !== false)
  }

  #launch(kind: BrowserKind): PooledBrowser {
    let onFound!: () => void
    let onFailed!: (error: Error) => void
    const found = new Promise<void>((resolve, reject) => ([onFound, onFailed] = [resolve, reject]))
    // A failure also rejects `worker`, which reports it.
    found.catch(() => {})
    const id = `${this.#config.home}-${++this.#launched}`
    const { log, writeAnywhere: filesAllowed } = this.#config
    const health = { times: this.#size.health, onChange: (answers: boolean) => this.#onHealthChange(browser, answers) }
    const worker = this.locate(kind).then((located) =>
      BrowserWorker.launch({ id, kind, browser: located, egress: this.#egress, filesAllowed, onFound, health, log }),
    )
    const browser: PooledBrowser = { kind, found, worker, running: undefined, slotsInUse: 0, retire: undefined }
    this.#fleetOf(kind).browsers.push(browser)
    worker.then(
      (running) => {
        browser.running = running
        running.upstream.onClose(() => this.#onLost(browser))
        this.#config.log('info', 'browser started', { worker: id, product: running.product, pid: running.pid })
        this.#updateWarm(browser)
      },
      (error: Error) => {
        this.#located.delete(kind)
        this.#config.log('error', 'browser did not start', { worker: id, error: error.message })
        onFailed(error)
        this.#remove(browser)
      },
    )
    return browser
  }

  #reserveIn(first: PooledBrowser): Slot {
    const hold = { browser: first, free: this.#hold(first), isInUse: true }
    const worker = this.#responsiveWorker(hold)
    // The user of the slot reports the failure.
    worker.catch(() => {})
    const free = () => {
      hold.isInUse = false
      hold.free()
    }
    return { launching: first.running === undefined, found: first.found, worker, free }
  }

  /** Returns the browser of a slot; moves a slot in an unresponsive browser to another one. */
  async #responsiveWorker(hold: Hold): Promise<BrowserWorker> {
    for (;;) {
      const { kind, running } = hold.browser
      if (!running) return hold.browser.worker
      if (await running.health.check()) return running
      hold.free()
      const next = hold.isInUse ? this.#withFreeSlotOrNew(kind) : undefined
      if (!next) {
        throw new BaxError('no_capacity', 'the browser does not answer, and all others are full', {
          retryAfterSecs: Math.ceil(this.#size.health.graceMs / 1000),
        })
      }
      hold.browser = next
      hold.free = this.#hold(next)
    }
  }

  /** Occupies a slot; the returned function frees it, once. */
  #hold(browser: PooledBrowser): () => void {
    browser.slotsInUse++
    clearTimeout(browser.retire)
    this.#updateWarm(browser)
    let held = true
    return () => {
      if (!held) return
      held = false
      browser.slotsInUse--
      this.#serve(browser.kind)
      this.#updateWarm(browser)
      if (browser.slotsInUse === 0) this.#retireLater(browser)
    }
  }

  #onHealthChange(browser: PooledBrowser, answers: boolean): void {
    const facts = { worker: browser.running?.id, pid: browser.running?.pid }
    this.#config.log('warn', answers ? 'a browser answers again' : 'a browser does not answer', facts)
    this.#serve(browser.kind)
  }

  /** Assigns free slots to queued requests, launching further browsers up to the limit. */
  #serve(kind: BrowserKind): void {
    const { queue } = this.#fleetOf(kind)
    while (queue.size > 0 && !this.#closed) {
      const browser = this.#withFreeSlotOrNew(kind)
      if (!browser) return
      queue.take()!(this.#reserveIn(browser))
    }
  }

  /** Adjusts the number of warm contexts, which never take a slot that a session could use. */
  #updateWarm(browser: PooledBrowser): void {
    // Warm contexts of windowed browsers would show windows that nobody requested.
    const target = hasWindows(browser.kind) || this.#closed ? 0 : this.#size.warm
    const capacity = this.#size.contextsPerBrowser - browser.slotsInUse
    browser.running?.keepWarm(Math.min(target, capacity), capacity)
  }

  #retireLater(browser: PooledBrowser): void {
    clearTimeout(browser.retire)
    browser.retire = setTimeout(() => {
      if (browser.slotsInUse > 0 || this.#fleetOf(browser.kind).browsers.length < 2 || !this.#remove(browser)) return
      this.#end(browser.running!)
    }, limits.pool.idleMs).unref()
  }

  /** Removes a browser that has ended, and cleans up after it. */
  #onLost(browser: PooledBrowser): void {
    if (this.#remove(browser)) this.#config.log('warn', 'browser lost', { worker: browser.running!.id })
    this.#end(browser.running!)
  }

  #end(worker: BrowserWorker): void {
    worker.end().catch((error: Error) => {
      this.#config.log('error', 'could not clean up after a browser', { worker: worker.id, error: error.message })
    })
  }

  #remove(browser: PooledBrowser): boolean {
    const { browsers } = this.#fleetOf(browser.kind)
    const at = browsers.indexOf(browser)
    if (at < 0) return false
    browsers.splice(at, 1)
    clearTimeout(browser.retire)
    this.#serve(browser.kind)
    return true
  }

  #fleetOf(kind: BrowserKind): Fleet {
    let fleet = this.#fleets.get(kind)
    if (!fleet) this.#fleets.set(kind, (fleet = { browsers: [], queue: new Turns() }))
    return fleet
  }
}

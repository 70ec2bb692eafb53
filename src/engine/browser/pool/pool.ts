/**
 * Browser pool: browsers by kind and key, their slots, and the queue for slots. Keys do not share a browser: a page that
 * keeps its browser busy, or brings it down, affects only sessions of its own key.
 */
import type { EngineConfig, PoolConfig } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { EngineStatus } from '../../../core/shapes/engine.ts'
import { Turns } from '../../../core/process/turns.ts'
import type { Egress } from '../../egress/egress.ts'
import type { KeyShares } from '../shares/key-shares.ts'
import { type BrowserKind, hasWindows, hidesAutomation } from './flags.ts'
import { LocatedBrowsers } from './located-browsers.ts'
import {
  claimAlone,
  type Fleet,
  type Hold,
  type PooledBrowser,
  requestSlot,
  type Slot,
  type SlotRequest,
} from './slots.ts'
import { BrowserWorker } from './worker.ts'

export class Pool {
  readonly #config: EngineConfig
  readonly #egress: Egress
  readonly #shares: KeyShares
  readonly #size: Omit<PoolConfig, 'cores'>
  readonly #fleets = new Map<BrowserKind, Fleet>()
  readonly located: LocatedBrowsers
  #launched = 0
  #closed = false

  constructor(config: EngineConfig, egress: Egress, shares: KeyShares) {
    this.#config = config
    this.#egress = egress
    this.#shares = shares
    this.located = new LocatedBrowsers(config)
    const { warm, contextsPerBrowser, browsers, processes, health } = limits.pool
    // A command with an embedded engine ends before a second session could use a warm context.
    const size = { warm: config.home === 'embedded' ? 0 : warm, contextsPerBrowser, browsers, processes, health }
    this.#size = { ...size, ...config.pool }
  }

  /** Reserves a free slot, launching the first browser for its key; returns undefined when the request has to queue. */
  reserve(kind: BrowserKind, owner: string | null): Slot | undefined {
    if (this.#fleetOf(kind).queue.has((waiting) => waiting === owner)) return undefined
    const isFirst = this.#usableOf(kind, owner).every(({ isClaimed }) => isClaimed)
    const browser = isFirst ? this.#withFreeSlotOrNew(kind, owner) : this.#withFreeSlot(kind, owner)
    return browser && this.#reserveIn(browser)
  }

  /** Queues a request for a slot; launches another browser for it if the limits allow. */
  queue(kind: BrowserKind, owner: string | null): SlotRequest {
    const { queue } = this.#fleetOf(kind)
    const request = requestSlot(queue, owner)
    this.#serve(kind)
    return request
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

  #withFreeSlot(kind: BrowserKind, owner: string | null): PooledBrowser | undefined {
    if (this.#isFull(kind)) return undefined
    const { contextsPerBrowser: most } = this.#size
    return this.#usableOf(kind, owner).find((one) => one.slotsInUse < most && !one.isClaimed)
  }

  /** Launches another browser if no other one of the key has a free slot and the limits allow. */
  #withFreeSlotOrNew(kind: BrowserKind, owner: string | null): PooledBrowser | undefined {
    const free = this.#withFreeSlot(kind, owner)
    if (free || !this.#mayLaunch(kind, owner)) return free
    if (this.#hasAll(kind)) {
      const idle = this.#idleOf(kind)!
      this.#forget(idle)
      this.#end(idle.running!)
    }
    return this.#launch(kind, owner)
  }

  /** Returns whether the limits allow another browser, which may take the place of an idle one of another key. */
  #mayLaunch(kind: BrowserKind, owner: string | null): boolean {
    if (this.#closed || this.#isFull(kind) || this.#usableOf(kind, owner).length >= this.#size.browsers) return false
    return !this.#hasAll(kind) || this.#idleOf(kind) !== undefined
  }

  /** Returns whether no further browser may run. */
  #hasAll(kind: BrowserKind): boolean {
    const { browsers, processes } = this.#size
    return this.#usableOf(kind).length >= Math.max(processes, browsers)
  }

  #idleOf(kind: BrowserKind): PooledBrowser | undefined {
    return this.#usableOf(kind).find(({ running, slotsInUse }) => running && slotsInUse === 0)
  }

  /** Returns whether all slots of a kind are in use. */
  #isFull(kind: BrowserKind): boolean {
    const { contextsPerBrowser, browsers } = this.#size
    return this.#usableOf(kind).reduce((sum, { slotsInUse }) => sum + slotsInUse, 0) >= contextsPerBrowser * browsers
  }

  /** Returns the browsers that are responsive or launching, of all keys or one. */
  #usableOf(kind: BrowserKind, owner?: string | null): PooledBrowser[] {
    const usable = this.#fleetOf(kind).browsers.filter(({ running }) => running?.health.responsive !== false)
    return owner === undefined ? usable : usable.filter((browser) => browser.owner === owner)
  }

  #launch(kind: BrowserKind, owner: string | null): PooledBrowser {
    let onFound!: () => void
    let onFailed!: (error: Error) => void
    const found = new Promise<void>((resolve, reject) => ([onFound, onFailed] = [resolve, reject]))
    // A failure also rejects `worker`, which reports it.
    found.catch(() => {})
    const id = `${this.#config.home}-${++this.#launched}`
    const { log, writeAnywhere: filesAllowed } = this.#config
    const webmcp = this.#config.webmcp ?? !hidesAutomation(kind)
    const machine = { egress: this.#egress, shares: this.#shares, webmcp }
    const health = { times: this.#size.health, onChange: (answers: boolean) => this.#onHealthChange(browser, answers) }
    const worker = this.located
      .get(kind)
      .then((located) =>
        BrowserWorker.launch({ id, kind, owner, browser: located, ...machine, filesAllowed, onFound, health, log }),
      )
    const idle = { running: undefined, slotsInUse: 0, isClaimed: false, retire: undefined }
    const browser: PooledBrowser = { kind, owner, found, worker, ...idle }
    this.#fleetOf(kind).browsers.push(browser)
    this.#retireIdle(kind)
    worker.then(
      (running) => {
        browser.running = running
        running.upstream.onClose(() => this.#onLost(browser))
        this.#config.log('info', 'browser started', { worker: id, product: running.product, pid: running.pid })
        // Its slot may have been freed meanwhile: it can make room for a browser of another key.
        this.#serve(kind)
        this.#updateWarm(browser)
      },
      (error: Error) => {
        this.located.forget(kind)
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
    const claim = () => (hold.isInUse ? claimAlone(hold.browser, () => this.#serve(first.kind)) : undefined)
    return { launching: first.running === undefined, found: first.found, worker, claim, free }
  }

  /** Returns the browser of a slot; moves a slot in an unresponsive browser to another one. */
  async #responsiveWorker(hold: Hold): Promise<BrowserWorker> {
    for (;;) {
      const { kind, owner, running } = hold.browser
      if (!running) return hold.browser.worker
      if (await running.health.check()) return running
      hold.free()
      const next = hold.isInUse ? this.#withFreeSlotOrNew(kind, owner) : undefined
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

  /** Assigns free slots to queued requests, launching further browsers up to the limits. */
  #serve(kind: BrowserKind): void {
    const { queue } = this.#fleetOf(kind)
    const mayHave = (owner: string | null) =>
      this.#withFreeSlot(kind, owner) !== undefined || this.#mayLaunch(kind, owner)
    for (let waiting; !this.#closed && (waiting = queue.take(mayHave));)
      waiting.onSlot(this.#reserveIn(this.#withFreeSlotOrNew(kind, waiting.owner)!))
  }

  /** Adjusts the number of warm contexts, which never take a slot that a session could use. */
  #updateWarm(browser: PooledBrowser): void {
    // Warm contexts of windowed browsers would show windows that nobody requested.
    const share = Math.ceil(this.#size.warm / Math.max(1, this.#fleetOf(browser.kind).browsers.length))
    const target = hasWindows(browser.kind) || this.#closed ? 0 : share
    const capacity = this.#size.contextsPerBrowser - browser.slotsInUse
    browser.running?.keepWarm(Math.min(target, capacity), capacity)
  }

  /** A browser is kept without sessions while it is the last of its kind. */
  #retireIdle(kind: BrowserKind): void {
    for (const browser of this.#fleetOf(kind).browsers)
      if (browser.running && browser.slotsInUse === 0) this.#retireLater(browser)
  }

  #retireLater(browser: PooledBrowser): void {
    clearTimeout(browser.retire)
    browser.retire = setTimeout(() => {
      const { running } = browser
      const isLast = this.#fleetOf(browser.kind).browsers.length < 2
      // One that is starting, or whose start has failed, has no process.
      if (!running || browser.slotsInUse > 0 || (isLast && !running.sharing?.staysSlow) || !this.#remove(browser))
        return
      this.#end(running)
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

  /** Removes a browser, which leaves room for another one. */
  #remove(browser: PooledBrowser): boolean {
    const isKnown = this.#forget(browser)
    if (isKnown) this.#serve(browser.kind)
    return isKnown
  }

  #forget(browser: PooledBrowser): boolean {
    const { browsers } = this.#fleetOf(browser.kind)
    const at = browsers.indexOf(browser)
    if (at < 0) return false
    browsers.splice(at, 1)
    clearTimeout(browser.retire)
    return true
  }

  #fleetOf(kind: BrowserKind): Fleet {
    let fleet = this.#fleets.get(kind)
    if (!fleet) this.#fleets.set(kind, (fleet = { browsers: [], queue: new Turns() }))
    return fleet
  }
}

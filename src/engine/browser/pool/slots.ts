/** Slots in browsers, and the requests that wait for them. */
import type { Turns } from '../../../core/process/turns.ts'
import type { ClaimBrowser } from '../cdp/session-tracing.ts'
import type { BrowserKind } from './flags.ts'
import type { BrowserWorker } from './worker.ts'

/** One browser of the pool, from its launch to its end. */
export interface PooledBrowser {
  readonly kind: BrowserKind
  /** Key of its sessions; null when the engine uses no keys. */
  readonly owner: string | null
  readonly found: Promise<void>
  readonly worker: Promise<BrowserWorker>
  running: BrowserWorker | undefined
  slotsInUse: number
  /** Whether one session has it for itself, while it records a trace. */
  isClaimed: boolean
  retire: NodeJS.Timeout | undefined
}

/** Browsers of one kind, and the requests that wait for a slot in them. */
export interface Fleet {
  readonly browsers: PooledBrowser[]
  /** Keys take turns, so that one with many requests does not delay the others. */
  readonly queue: SlotQueue
}

/** The browser that a slot is in, which may change, and whether the slot is still in use. */
export interface Hold {
  browser: PooledBrowser
  free: () => void
  isInUse: boolean
}

/** A reserved slot in a browser that runs or is being launched. */
export interface Slot {
  /** Whether the browser was still launching when the slot was reserved. */
  readonly launching: boolean
  /** Settles on the first response of the browser. */
  readonly found: Promise<void>
  readonly worker: Promise<BrowserWorker>
  /** Keeps other sessions out of the browser. */
  readonly claim: ClaimBrowser
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

/** Queued requests; keys take turns, so that one with many does not delay the others. */
export type SlotQueue = Turns<{ readonly owner: string | null; readonly onSlot: (slot: Slot) => void }>

/** Queues a request of a key. */
export function requestSlot(queue: SlotQueue, owner: string | null): SlotRequest {
  let waiting!: Parameters<SlotQueue['add']>[0]
  const slot = new Promise<Slot>((onSlot) => queue.add((waiting = { owner, onSlot }), owner))
  return {
    slot,
    get position() {
      return queue.positionOf(waiting) + 1 || null
    },
    leave() {
      queue.remove(waiting)
    },
  }
}

/** Claims a browser for its only slot in use; `onFree` is called when it can be used by others again. */
export function claimAlone(browser: PooledBrowser, onFree: () => void): (() => void) | undefined {
  if (browser.slotsInUse !== 1 || browser.isClaimed) return undefined
  browser.isClaimed = true
  return () => {
    browser.isClaimed = false
    onFree()
  }
}

/** Slots in browsers, and the requests that wait for them. */
import type { Turns } from '../../../core/process/turns.ts'
import type { BrowserWorker } from './worker.ts'

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

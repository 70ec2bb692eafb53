/** Requests that wait for a slot in a browser, in the order of their arrival. */

/** A queued request for a slot. */
export interface SlotRequest<Slot> {
  readonly slot: Promise<Slot>
  /** Position in the queue, 1 for the next; null when it has a slot or has left the queue. */
  readonly position: number | null
  leave(): void
}

interface Waiting<Slot> {
  readonly owner: string | null
  readonly onSlot: (slot: Slot) => void
}

export class SlotQueue<Slot> {
  readonly #waiting: Waiting<Slot>[] = []

  /** Returns whether a request of the key waits. */
  has(owner: string | null): boolean {
    return this.#waiting.some((waiting) => waiting.owner === owner)
  }

  add(owner: string | null): SlotRequest<Slot> {
    const all = this.#waiting
    let waiting!: Waiting<Slot>
    const slot = new Promise<Slot>((onSlot) => all.push((waiting = { owner, onSlot })))
    return {
      slot,
      get position() {
        return all.indexOf(waiting) + 1 || null
      },
      leave: () => this.#remove(waiting),
    }
  }

  /** Gives slots to requests, oldest first. A key without a slot does not hold up the others. */
  serve(slotFor: (owner: string | null) => Slot | undefined): void {
    for (const waiting of this.#waiting.slice()) {
      const slot = slotFor(waiting.owner)
      if (slot === undefined) continue
      this.#remove(waiting)
      waiting.onSlot(slot)
    }
  }

  #remove(waiting: Waiting<Slot>): void {
    const at = this.#waiting.indexOf(waiting)
    if (at >= 0) this.#waiting.splice(at, 1)
  }
}

/** Counts amounts per holder. */
export class Counter<Holder> {
  readonly #amounts = new Map<Holder, number>()
  #total = 0

  /** Sum over all holders. */
  get total(): number {
    return this.#total
  }

  of(holder: Holder): number {
    return this.#amounts.get(holder) ?? 0
  }

  /** Adds an amount; a negative one releases. */
  add(holder: Holder, amount: number): void {
    const now = this.of(holder) + amount
    if (now > 0) this.#amounts.set(holder, now)
    else this.#amounts.delete(holder)
    this.#total += amount
  }

  /** Adds one; the returned function releases it, at most once. */
  take(holder: Holder): () => void {
    this.add(holder, 1)
    let held = true
    return () => {
      if (held) this.add(holder, -1)
      held = false
    }
  }
}

/** How much each holder has of something that is counted. */
export class Tally<Holder> {
  readonly #amounts = new Map<Holder, number>()
  #total = 0

  /** What all holders have together. */
  get total(): number {
    return this.#total
  }

  of(holder: Holder): number {
    return this.#amounts.get(holder) ?? 0
  }

  /** With a negative amount something is given back. */
  add(holder: Holder, amount: number): void {
    const now = this.of(holder) + amount
    if (now > 0) this.#amounts.set(holder, now)
    else this.#amounts.delete(holder)
    this.#total += amount
  }

  /** Adds one; the function gives it back, once. */
  take(holder: Holder): () => void {
    this.add(holder, 1)
    let held = true
    return () => {
      if (held) this.add(holder, -1)
      held = false
    }
  }
}

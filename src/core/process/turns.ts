/** A queue whose origins take turns, so that one with much work does not delay the others. */

/** ID of the key that requested the work; null without keys, and for work of the engine itself. */
export type Origin = string | null

/** Origin of a piece of work, and the signal that cancels it. */
export interface WorkOptions {
  readonly from?: Origin
  readonly signal?: AbortSignal
}

/** Options of a task that runs in a thread. */
export interface TaskOptions extends WorkOptions {
  /** Called when a thread gets the task; again if it is repeated. */
  readonly onStart?: () => void
}

/** Origins that are remembered; one that is forgotten is served first. */
const mostServed = 1000

export class Turns<Item> {
  /** Waiting items of each origin, in order. */
  readonly #queues = new Map<Origin, Item[]>()
  /** Origins whose items were taken, the latest last. */
  readonly #served = new Set<Origin>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(item: Item, from: Origin): void {
    this.#queueOf(from).push(item)
    this.#size++
  }

  /** Adds an item that was taken before: it is the next one of its origin. */
  putBack(item: Item, from: Origin): void {
    this.#queueOf(from).unshift(item)
    this.#size++
  }

  /** Whether an item waits whose origin may have another one. */
  has(mayHave: (from: Origin) => boolean): boolean {
    return [...this.#queues.keys()].some(mayHave)
  }

  /** Takes the first item of the origin that was served least recently, of those that may have another one. */
  take(mayHave: (from: Origin) => boolean = () => true): Item | undefined {
    const open = new Set([...this.#queues.keys()].filter(mayHave))
    const [from] = [
      ...[...open].filter((one) => !this.#served.has(one)),
      ...[...this.#served].filter((one) => open.has(one)),
    ]
    if (from === undefined) return undefined
    const item = this.#queues.get(from)!.shift()!
    this.#served.delete(from)
    this.#served.add(from)
    if (this.#served.size > mostServed) this.#served.delete(this.#served.values().next().value!)
    this.#onRemoved(from)
    return item
  }

  /** Removes an item; returns whether it was waiting. */
  remove(item: Item): boolean {
    for (const [from, items] of this.#queues) {
      const at = items.indexOf(item)
      if (at < 0) continue
      items.splice(at, 1)
      this.#onRemoved(from)
      return true
    }
    return false
  }

  /** Removes all items, and returns them. */
  clear(): Item[] {
    const all = [...this.#queues.values()].flat()
    this.#queues.clear()
    this.#size = 0
    return all
  }

  /** Returns the number of items that are taken before this one, if nothing else is added; -1 if it is not waiting. */
  positionOf(item: Item): number {
    const copy = new Turns<Item>()
    for (const [from, items] of this.#queues) for (const each of items) copy.add(each, from)
    for (const from of this.#served) copy.#served.add(from)
    for (let position = 0; copy.size > 0; position++) if (copy.take() === item) return position
    return -1
  }

  #queueOf(from: Origin): Item[] {
    let items = this.#queues.get(from)
    if (!items) this.#queues.set(from, (items = []))
    return items
  }

  #onRemoved(from: Origin): void {
    this.#size--
    if (this.#queues.get(from)!.length === 0) this.#queues.delete(from)
  }
}

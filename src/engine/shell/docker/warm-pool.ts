/** Keeps running containers ready for future sessions. They use memory but no CPU: their agents only wait for input. */
import type { ContainerSpec } from '../container.ts'
import type { DockerContainer } from './docker-container.ts'

/** Returns a key for everything that a warm container must have in common with a request. */
export const kindOf = (imageId: string, { network, outputMounts, limits }: ContainerSpec): string =>
  JSON.stringify([imageId, network, outputMounts, Object.entries(limits).toSorted()])

interface Kind {
  readonly ready: DockerContainer[]
  /** Number of containers being created. */
  pending: number
  readonly make: () => Promise<DockerContainer>
  usedAt: number
}

interface PoolOptions {
  /** Number of containers per kind. */
  readonly size: number
  /** Maximum number of kinds; the least recently used is dropped first. */
  readonly kinds: number
  /** Unused kinds are dropped after this time, in milliseconds. */
  readonly idleMs: number
  /** Called when a container could not be created. */
  readonly failed: (error: unknown) => void
}

export class WarmPool {
  readonly #options: PoolOptions
  readonly #kinds = new Map<string, Kind>()
  readonly #work = new Set<Promise<void>>()
  readonly #timer: NodeJS.Timeout
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#dropIdle(), options.idleMs / 4).unref()
  }

  get count(): number {
    return [...this.#kinds.values()].reduce((sum, { ready }) => sum + ready.length, 0)
  }

  /** Returns a warm container that still responds, or undefined. */
  async take(key: string): Promise<DockerContainer | undefined> {
    const kind = this.#kinds.get(key)
    if (!kind) return undefined
    for (let next = kind.ready.shift(); next; next = kind.ready.shift()) {
      if (next.end === null && (await next.answers())) return next
      this.#track(next.remove())
    }
    return undefined
  }

  /** Keeps containers of a kind warm from now on. Called after one was handed out, so as not to delay it. */
  keep(key: string, make: () => Promise<DockerContainer>): void {
    if (this.#closed || this.#options.size === 0) return
    let kind = this.#kinds.get(key)
    if (!kind) this.#kinds.set(key, (kind = { ready: [], pending: 0, make, usedAt: 0 }))
    kind.usedAt = performance.now()
    this.#dropOldest()
    while (kind.ready.length + kind.pending < this.#options.size) this.#track(this.#fill(kind))
  }

  /** Removes all containers; resolves when they are gone. */
  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    for (const key of this.#kinds.keys()) this.#drop(key)
    while (this.#work.size > 0) await Promise.all(this.#work)
  }

  async #fill(kind: Kind): Promise<void> {
    kind.pending++
    try {
      const container = await kind.make()
      const isNeeded = !this.#closed && [...this.#kinds.values()].includes(kind)
      if (isNeeded) kind.ready.push(container)
      else await container.remove()
    } finally {
      kind.pending--
    }
  }

  #dropIdle(): void {
    const oldest = performance.now() - this.#options.idleMs
    for (const [key, { usedAt }] of this.#kinds) if (usedAt < oldest) this.#drop(key)
  }

  #dropOldest(): void {
    if (this.#kinds.size <= this.#options.kinds) return
    const [key] = [...this.#kinds].toSorted(([, left], [, right]) => left.usedAt - right.usedAt)[0]!
    this.#drop(key)
  }

  #drop(key: string): void {
    const kind = this.#kinds.get(key)
    this.#kinds.delete(key)
    for (const container of kind?.ready.splice(0) ?? []) this.#track(container.remove())
  }

  #track(work: Promise<void>): void {
    const tracked: Promise<void> = work.catch(this.#options.failed).finally(() => this.#work.delete(tracked))
    this.#work.add(tracked)
  }
}

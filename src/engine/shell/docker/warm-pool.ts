/** Running containers that wait for the next session of their kind. They cost memory and no work: their agent only listens. */
import type { ContainerSpec } from '../container.ts'
import type { DockerContainer } from './docker-container.ts'

/** What a container must have in common with a wish to serve it. */
export const kindOf = (imageId: string, { network, outputMounts, limits }: ContainerSpec): string =>
  JSON.stringify([imageId, network, outputMounts, Object.entries(limits).toSorted()])

interface Kind {
  readonly ready: DockerContainer[]
  /** Being made. */
  coming: number
  readonly make: () => Promise<DockerContainer>
  usedAt: number
}

interface PoolOptions {
  /** Containers kept of each kind. */
  readonly size: number
  /** Kinds kept at the same time; the one that was used longest ago goes first. */
  readonly kinds: number
  /** A kind that nobody asks for any more is given up after this. */
  readonly idleMs: number
  /** Told when a container could not be made. */
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

  /** A waiting container that still answers, or undefined. */
  async take(key: string): Promise<DockerContainer | undefined> {
    const kind = this.#kinds.get(key)
    if (!kind) return undefined
    for (let next = kind.ready.shift(); next; next = kind.ready.shift()) {
      if (next.end === null && (await next.answers())) return next
      this.#track(next.remove())
    }
    return undefined
  }

  /** Keeps containers of a kind from now on; called after each one that was handed out, so that making it hinders nobody. */
  keep(key: string, make: () => Promise<DockerContainer>): void {
    if (this.#closed || this.#options.size === 0) return
    let kind = this.#kinds.get(key)
    if (!kind) this.#kinds.set(key, (kind = { ready: [], coming: 0, make, usedAt: 0 }))
    kind.usedAt = performance.now()
    this.#dropOldest()
    while (kind.ready.length + kind.coming < this.#options.size) this.#fill(kind)
  }

  /** Removes all; resolves when they are gone. */
  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    for (const key of this.#kinds.keys()) this.#drop(key)
    while (this.#work.size > 0) await Promise.all(this.#work)
  }

  #fill(kind: Kind): void {
    kind.coming++
    this.#track(
      (async () => {
        try {
          const container = await kind.make()
          const wanted = !this.#closed && [...this.#kinds.values()].includes(kind)
          if (wanted) kind.ready.push(container)
          else await container.remove()
        } finally {
          kind.coming--
        }
      })(),
    )
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

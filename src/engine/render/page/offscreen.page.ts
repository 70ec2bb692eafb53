/** Has pages show what is below the fold, and gives those that are never painted timers in the place of frames. */

/** Time that an idle callback is told it has. */
const idleMs = 12

/** Without frames neither animation frames nor observers of layout would ever be called. */
export function standInForFrames(): void {
  const { setTimeout, clearTimeout } = globalThis
  globalThis.requestAnimationFrame = (callback) =>
    Reflect.apply(setTimeout, globalThis, [() => callback(performance.now()), 16]) as unknown as number
  globalThis.cancelAnimationFrame = (id) => Reflect.apply(clearTimeout, globalThis, [id])
  // Nothing is idle where nothing is painted.
  globalThis.requestIdleCallback = (callback) => {
    const deadline = { didTimeout: false, timeRemaining: () => idleMs }
    return Reflect.apply(setTimeout, globalThis, [() => callback(deadline), 1]) as unknown as number
  }
  globalThis.cancelIdleCallback = (id) => Reflect.apply(clearTimeout, globalThis, [id])
  globalThis.IntersectionObserver = class implements IntersectionObserver {
    readonly root = null
    readonly rootMargin = '0px'
    readonly scrollMargin = '0px'
    readonly thresholds = [0]
    readonly #callback: IntersectionObserverCallback
    /** One call each: a sentinel that is observed again would load page after page. */
    readonly #seen = new WeakSet<Element>()
    constructor(callback: IntersectionObserverCallback) {
      this.#callback = callback
    }
    observe(target: Element): void {
      if (this.#seen.has(target)) return
      this.#seen.add(target)
      globalThis.setTimeout(() => this.#callback([seen(target)], this), 0)
    }
    unobserve(): void {}
    disconnect(): void {}
    takeRecords(): IntersectionObserverEntry[] {
      return []
    }
  }
  globalThis.ResizeObserver = class implements ResizeObserver {
    readonly #callback: ResizeObserverCallback
    constructor(callback: ResizeObserverCallback) {
      this.#callback = callback
    }
    observe(target: Element): void {
      globalThis.setTimeout(() => {
        const contentRect = target.getBoundingClientRect()
        const size = [{ inlineSize: contentRect.width, blockSize: contentRect.height }]
        this.#callback([{ target, contentRect, borderBoxSize: size, contentBoxSize: size, devicePixelContentBoxSize: size }], this) // prettier-ignore
      }, 0)
    }
    unobserve(): void {}
    disconnect(): void {}
  }
}

/** Everything that a painted page observes is reported as seen once, as on a page that is not painted. */
export function reportAllAsSeen(): void {
  const { IntersectionObserver } = globalThis
  globalThis.IntersectionObserver = class extends IntersectionObserver {
    readonly #callback: IntersectionObserverCallback
    readonly #seen = new WeakSet<Element>()
    /** Elements whose first state is still to be reported by the browser; it is known already. */
    readonly #fresh = new Set<Element>()
    constructor(callback: IntersectionObserverCallback, options?: IntersectionObserverInit) {
      super((entries) => {
        const news = entries.filter(({ target }) => !this.#fresh.delete(target))
        if (news.length > 0) callback(news, this)
      }, options)
      this.#callback = callback
    }
    override observe(target: Element): void {
      super.observe(target)
      if (this.#seen.has(target)) return
      this.#seen.add(target)
      this.#fresh.add(target)
      globalThis.setTimeout(() => this.#callback([seen(target)], this), 0)
    }
    override disconnect(): void {
      this.#fresh.clear()
      super.disconnect()
    }
  }
}

function seen(target: Element): IntersectionObserverEntry {
  const box = target.getBoundingClientRect()
  return { target, isIntersecting: true, intersectionRatio: 1, boundingClientRect: box, intersectionRect: box, rootBounds: null, time: performance.now() } // prettier-ignore
}

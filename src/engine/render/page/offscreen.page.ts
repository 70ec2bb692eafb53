/** Makes pages show content below the fold, and emulates frames with timers on pages that are never painted. */

/** Remaining time reported to idle callbacks, in milliseconds. */
const idleMs = 12

/** Emulates animation frames and layout observers, which are never called on pages that are not painted. */
export function emulateFrames(): void {
  const { setTimeout, clearTimeout }: Window = window
  globalThis.requestAnimationFrame = (callback) =>
    Reflect.apply(setTimeout, globalThis, [() => callback(performance.now()), 16])
  globalThis.cancelAnimationFrame = (id) => Reflect.apply(clearTimeout, globalThis, [id])
  // Idle callbacks do not run on pages that are not painted.
  globalThis.requestIdleCallback = (callback) => {
    const deadline = { didTimeout: false, timeRemaining: () => idleMs }
    return Reflect.apply(setTimeout, globalThis, [() => callback(deadline), 1])
  }
  globalThis.cancelIdleCallback = (id) => Reflect.apply(clearTimeout, globalThis, [id])
  globalThis.IntersectionObserver = class implements IntersectionObserver {
    readonly root = null
    readonly rootMargin = '0px'
    readonly scrollMargin = '0px'
    readonly thresholds = [0]
    readonly #callback: IntersectionObserverCallback
    /** Each element is reported once: a sentinel that is observed again would load page after page. */
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
        this.#callback(
          [{ target, contentRect, borderBoxSize: size, contentBoxSize: size, devicePixelContentBoxSize: size }],
          this,
        )
      }, 0)
    }
    unobserve(): void {}
    disconnect(): void {}
  }
}

/** Reports every observed element of a painted page as visible once, as on pages that are not painted. */
export function reportAllAsSeen(): void {
  const { IntersectionObserver } = globalThis
  globalThis.IntersectionObserver = class extends IntersectionObserver {
    readonly #callback: IntersectionObserverCallback
    readonly #seen = new WeakSet<Element>()
    /** Elements whose first report by the browser is pending, and redundant. */
    readonly #pending = new Set<Element>()
    constructor(callback: IntersectionObserverCallback, options?: IntersectionObserverInit) {
      super((entries) => {
        const updates = entries.filter(({ target }) => !this.#pending.delete(target))
        if (updates.length > 0) callback(updates, this)
      }, options)
      this.#callback = callback
    }
    override observe(target: Element): void {
      super.observe(target)
      if (this.#seen.has(target)) return
      this.#seen.add(target)
      this.#pending.add(target)
      globalThis.setTimeout(() => this.#callback([seen(target)], this), 0)
    }
    override disconnect(): void {
      this.#pending.clear()
      super.disconnect()
    }
  }
}

function seen(target: Element): IntersectionObserverEntry {
  const box = target.getBoundingClientRect()
  return {
    target,
    isIntersecting: true,
    intersectionRatio: 1,
    boundingClientRect: box,
    intersectionRect: box,
    rootBounds: null,
    time: performance.now(),
  }
}

/** Timers in the place of frames, for pages that are never painted. */

const watchedFrames = 10

/** Without frames neither animation frames nor observers of layout would ever be called. */
export function standInForFrames(unwatched: typeof setTimeout): void {
  let frames = 0
  globalThis.requestAnimationFrame = (callback) => {
    // The first frames may bring content; an animation goes on for ever.
    const timer = frames++ < watchedFrames ? globalThis.setTimeout : unwatched
    return Number(timer(() => callback(performance.now()), 16))
  }
  globalThis.cancelAnimationFrame = (id) => globalThis.clearTimeout(id)
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
      globalThis.setTimeout(() => {
        const box = target.getBoundingClientRect()
        const entry = { target, isIntersecting: true, intersectionRatio: 1, boundingClientRect: box, intersectionRect: box, rootBounds: null, time: performance.now() } // prettier-ignore
        this.#callback([entry], this)
      }, 0)
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

/**
 * Runs before a page's own scripts, and knows when its content has settled: nothing is being fetched, no short timer is
 * waiting, no script is loading, and the document has been left alone for a moment.
 */

export interface SettleOptions {
  /** The target is never painted: what waits for a frame gets a timer instead. */
  readonly unpainted: boolean
}

const quietMs = 60
const watchedFrames = 10
/** Timers beyond this are rotation and polling, not content. */
const shortMs = 600

class Watch {
  #open = 0
  #changed = performance.now()
  readonly #timers = new Set<unknown>()
  readonly #now = performance.now.bind(performance)
  readonly #setTimeout = globalThis.setTimeout.bind(globalThis)

  begin(): () => void {
    let ended = false
    this.#open++
    return () => {
      if (ended) return
      ended = true
      this.#open--
      this.touch()
    }
  }

  touch(): void {
    this.#changed = this.#now()
  }

  addTimer(id: unknown): void {
    this.#timers.add(id)
  }

  endTimer(id: unknown): void {
    if (this.#timers.delete(id)) this.touch()
  }

  /** Resolves true when the content has settled, false when it has not in so many milliseconds. */
  settled(limitMs: number): Promise<boolean> {
    const end = this.#now() + limitMs
    return new Promise((resolve) => {
      const look = (): void => {
        const now = this.#now()
        if (this.#open === 0 && this.#timers.size === 0 && now - this.#changed >= quietMs) return resolve(true)
        if (now >= end) return resolve(false)
        this.#setTimeout(look, 15)
      }
      look()
    })
  }
}

function watchRequests(watch: Watch): void {
  const { fetch } = globalThis
  if (fetch) {
    globalThis.fetch = function (this: unknown, ...given: Parameters<typeof fetch>) {
      const end = watch.begin()
      const answer = Reflect.apply(fetch, globalThis, given)
      // The body is read after the headers; reading it changes the document soon after.
      answer.then(end, end)
      return answer
    }
  }
  const { send } = XMLHttpRequest.prototype
  XMLHttpRequest.prototype.send = function (...given) {
    const end = watch.begin()
    this.addEventListener('loadend', end, { once: true })
    try {
      return send.apply(this, given)
    } catch (error) {
      end()
      throw error
    }
  }
  for (const name of ['json', 'text', 'arrayBuffer', 'blob', 'formData'] as const) {
    const read = Response.prototype[name] as (this: Response) => Promise<unknown>
    Object.assign(Response.prototype, {
      [name](this: Response) {
        const end = watch.begin()
        const body = read.call(this)
        body.then(end, end)
        return body
      },
    })
  }
}

function watchTimers(watch: Watch): void {
  const { setTimeout, clearTimeout } = globalThis
  const replaced = function (handler: unknown, delay?: number, ...rest: unknown[]): unknown {
    const short = !(Number(delay) > shortMs)
    if (!short || typeof handler !== 'function') {
      return Reflect.apply(setTimeout, globalThis, [handler, delay, ...rest])
    }
    const id: unknown = Reflect.apply(setTimeout, globalThis, [
      function (this: unknown, ...given: unknown[]) {
        try {
          return Reflect.apply(handler, this, given) as unknown
        } finally {
          watch.endTimer(id)
        }
      },
      delay,
      ...rest,
    ])
    watch.addTimer(id)
    return id
  }
  Object.assign(globalThis, {
    setTimeout: replaced,
    clearTimeout(id: unknown) {
      watch.endTimer(id)
      Reflect.apply(clearTimeout, globalThis, [id])
    },
  })
}

/** Changes of the document, scripts that are put into it, sockets until they have said something. */
function watchDocument(watch: Watch): void {
  const starting = (node: Node): void => {
    if (!(node instanceof HTMLScriptElement) || !node.src || /json/i.test(node.type)) return
    const end = watch.begin()
    node.addEventListener('load', end, { once: true })
    node.addEventListener('error', end, { once: true })
  }
  new MutationObserver((records) => {
    watch.touch()
    if (document.readyState === 'loading') return
    for (const { addedNodes } of records) for (const node of addedNodes) starting(node)
  }).observe(document, { childList: true, characterData: true, subtree: true })
  const Socket = globalThis.WebSocket
  globalThis.WebSocket = class extends Socket {
    constructor(...given: ConstructorParameters<typeof Socket>) {
      super(...given)
      const end = watch.begin()
      for (const event of ['message', 'error', 'close']) this.addEventListener(event, end, { once: true })
      this.addEventListener('open', () => globalThis.setTimeout(end, shortMs), { once: true })
    }
  }
}

/** Without frames neither animation frames nor observers of layout would ever be called. */
function standInForFrames(unwatched: typeof setTimeout): void {
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

/** Installs the watch in a top-level document; frames have nothing of ours in them. */
export function install({ unpainted }: SettleOptions): void {
  if (globalThis.top !== globalThis.self) return
  const watch = new Watch()
  const unwatched = globalThis.setTimeout.bind(globalThis) as typeof setTimeout
  watchTimers(watch)
  watchRequests(watch)
  watchDocument(watch)
  if (unpainted) standInForFrames(unwatched)
  Object.defineProperty(globalThis, Symbol.for('bax.settled'), { value: (ms: number) => watch.settled(ms) })
}

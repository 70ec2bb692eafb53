/**
 * Runs before a page's own scripts, and knows when its content has settled: nothing is being fetched, no short timer is
 * waiting, no script is loading, and the document has been left alone for a moment.
 */
import { type PageReading, pendingRefresh, readPlainPage } from './read.page.ts'
import { sealPage } from './seal.page.ts'
import { standInForFrames } from './stand-in.page.ts'

export interface SettleOptions {
  /** The target is never painted: what waits for a frame gets a timer instead. */
  readonly unpainted: boolean
  /** A `<meta http-equiv=refresh>` that fires later than this is no redirect. */
  readonly refreshSecs: number
}

/** A page that has settled, or has not in time. */
export interface SettledPage {
  /** As it was then, unless there are shadow trees in it. */
  readonly page?: PageReading
  /** As `pendingRefresh` has it. */
  readonly refresh: number | null
}

const quietMs = 60
const tickMs = 20
const quietTurns = 3
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

  /**
   * Resolves when the content has settled, at the latest in so many milliseconds; on a machine that has no time for
   * the page those count less, down to half.
   */
  settled(limitMs: number): Promise<void> {
    if (this.#idle && isStill()) return Promise.resolve()
    const start = this.#now()
    let last = start
    let spent = 0
    let quiet = 0
    return new Promise((resolve) => {
      const look = (): void => {
        const now = this.#now()
        spent += Math.min(now - last, 2 * tickMs)
        // Turns are counted beside the time: what is ready to run has run in between.
        quiet = this.#idle && this.#changed <= last ? quiet + 1 : 0
        last = now
        const calm = quiet >= quietTurns && now - this.#changed >= quietMs
        if (calm || spent >= limitMs || now - start >= 2 * limitMs) return resolve()
        this.#setTimeout(look, tickMs)
      }
      this.#setTimeout(look, tickMs)
    })
  }

  get #idle(): boolean {
    return this.#open === 0 && this.#timers.size === 0
  }
}

/** Whether nothing can change the document any more: it has no scripts at all. */
function isStill(): boolean {
  for (const { type } of document.scripts) if (!/json|template|speculationrules/i.test(type)) return false
  return document.querySelector('iframe,object,embed,[onload],[onerror],[onanimationend],[ontransitionend]') === null
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

/** Installs the watch in a top-level document; frames have nothing of ours in them. */
export function install({ unpainted, refreshSecs }: SettleOptions): void {
  if (globalThis.top !== globalThis.self) return
  const watch = new Watch()
  const unwatched = globalThis.setTimeout.bind(globalThis) as typeof setTimeout
  const seal = sealPage()
  watchTimers(watch)
  watchRequests(watch)
  watchDocument(watch)
  if (unpainted) standInForFrames(unwatched)
  const settled = (ms: number, afresh: boolean): Promise<SettledPage> => {
    if (afresh) watch.touch()
    return watch.settled(ms).then(() => {
      const page = readPlainPage()
      return { refresh: pendingRefresh(refreshSecs), ...(page && { page }) }
    })
  }
  Object.defineProperty(globalThis, Symbol.for('bax.page'), { value: { settled, seal } })
}

/** Reports the activity of scripts in a page: timers, requests, streams, workers. */
import { type Activity, type CallSource, longMs } from './activity.page.ts'

/** Wraps the globals before scripts of the page run; calls `added` with new elements. */
export function watchPage(activity: Activity, added: (element: Element) => void): void {
  watchTimers(activity)
  watchTasks(activity)
  watchRequests(activity)
  watchStreams(activity)
  watchDocument(activity, added)
}

/** Number of animation frames to always wait for: the first ones bring content, but animations never end. */
const contentFrames = 10

type Handler = (this: unknown, ...args: unknown[]) => unknown

function watchTimers(activity: Activity): void {
  const { setTimeout, setInterval, clearTimeout } = globalThis
  const intervals = new Map<unknown, CallSource>()
  const call = (method: unknown, ...args: unknown[]): unknown => Reflect.apply(method as Handler, globalThis, args)
  const clear = (id: unknown): void => {
    activity.endTimer(id)
    intervals.get(id)?.end()
    intervals.delete(id)
    // Timers and intervals share one ID sequence.
    call(clearTimeout, id)
  }
  Object.assign(globalThis, {
    setTimeout(handler: unknown, delay?: number, ...rest: unknown[]) {
      const id: unknown = call(
        setTimeout,
        wrapped(handler, undefined, () => activity.endTimer(id)),
        delay,
        ...rest,
      )
      activity.addTimer(id, Number(delay) || 0)
      // A string handler cannot be wrapped, but a timer that is set after it fires after it.
      if (typeof handler !== 'function') call(setTimeout, () => activity.endTimer(id), delay)
      return id
    },
    setInterval(handler: unknown, delay?: number, ...rest: unknown[]) {
      const everyMs = Math.max(Number(delay) || 0, 4)
      const feed = everyMs <= longMs ? activity.feed(everyMs) : undefined
      const id: unknown = call(
        setInterval,
        wrapped(handler, () => feed?.called()),
        delay,
        ...rest,
      )
      if (feed) intervals.set(id, feed)
      return id
    },
    clearTimeout: clear,
    clearInterval: clear,
  })
}

/** Wraps a handler with calls before and after it; returns other values unchanged. */
function wrapped(handler: unknown, before?: () => void, after?: () => void): unknown {
  if (typeof handler !== 'function') return handler
  return function (this: unknown, ...args: unknown[]): unknown {
    before?.()
    try {
      return Reflect.apply(handler, this, args) as unknown
    } finally {
      after?.()
    }
  }
}

/** Watches animation frames, idle callbacks and scheduled tasks. */
function watchTasks(activity: Activity): void {
  let frames = 0
  watchCallbacks('AnimationFrame', () => (frames++ < contentFrames ? activity.begin() : activity.expect()))
  watchCallbacks('IdleCallback', () => activity.expect())
  const { scheduler } = globalThis as { scheduler?: { postTask(...args: unknown[]): Promise<unknown> } }
  if (!scheduler?.postTask) return
  const { postTask } = scheduler
  scheduler.postTask = (...args) => {
    const task = Reflect.apply(postTask, scheduler, args)
    const { delay = 0 } = (args[1] ?? {}) as { delay?: number }
    const end = delay <= longMs ? activity.expect() : undefined
    if (end) task.then(end, end)
    return task
  }
}

function watchCallbacks(name: 'AnimationFrame' | 'IdleCallback', begin: () => () => void): void {
  const [request, cancel] = [`request${name}`, `cancel${name}`] as const
  const { [request]: requestCallback, [cancel]: cancelCallback } = globalThis
  const open = new Map<unknown, () => void>()
  const end = (id: unknown): void => {
    open.get(id)?.()
    open.delete(id)
  }
  Object.assign(globalThis, {
    [request](handler: unknown, ...rest: unknown[]) {
      const afterwards = wrapped(handler, undefined, () => end(id))
      const id: unknown = Reflect.apply(requestCallback, globalThis, [afterwards, ...rest])
      open.set(id, begin())
      return id
    },
    [cancel](id: unknown) {
      end(id)
      Reflect.apply(cancelCallback, globalThis, [id])
    },
  })
}

function watchRequests(activity: Activity): void {
  const { fetch } = globalThis
  globalThis.fetch = function (this: unknown, ...args: Parameters<typeof fetch>) {
    const end = activity.begin()
    const response = Reflect.apply(fetch, globalThis, args)
    // Reading the body is tracked separately, below.
    response.then(end, end)
    return response
  }
  const { send } = XMLHttpRequest.prototype
  XMLHttpRequest.prototype.send = function (...args) {
    const end = activity.begin()
    this.addEventListener('loadend', end, { once: true })
    try {
      return send.apply(this, args)
    } catch (error) {
      end()
      throw error
    }
  }
  for (const name of ['json', 'text', 'arrayBuffer', 'blob', 'formData'] as const) {
    const read = Response.prototype[name] as (this: Response) => Promise<unknown>
    Object.assign(Response.prototype, {
      [name](this: Response) {
        const end = activity.begin()
        const body = read.call(this)
        body.then(end, end)
        return body
      },
    })
  }
}

/** Maximum time to wait for the first message of an open socket, in milliseconds. */
const firstMessageMs = 600

function watchStreams(activity: Activity): void {
  const { WebSocket, EventSource, Worker, setTimeout } = globalThis
  globalThis.WebSocket = class extends WebSocket {
    constructor(...args: ConstructorParameters<typeof WebSocket>) {
      super(...args)
      const end = activity.begin()
      for (const event of ['message', 'error', 'close']) this.addEventListener(event, end, { once: true })
      this.addEventListener('open', () => Reflect.apply(setTimeout, globalThis, [end, firstMessageMs]), {
        once: true,
      })
      const feed = activity.feed()
      this.addEventListener('message', () => feed.called())
      this.addEventListener('close', () => feed.end())
    }
  }
  globalThis.EventSource = class extends EventSource {
    readonly #feed = activity.feed()
    constructor(...args: ConstructorParameters<typeof EventSource>) {
      super(...args)
      this.addEventListener('message', () => {})
      super.addEventListener('error', () => this.readyState === EventSource.CLOSED && this.#feed.end())
    }
    /** Counts events of any name. */
    override addEventListener(type: string, ...rest: unknown[]): void {
      if (type !== 'error' && type !== 'open') super.addEventListener(type, () => this.#feed.called())
      Reflect.apply(super.addEventListener, this, [type, ...rest])
    }
    override close(): void {
      this.#feed.end()
      super.close()
    }
  }
  globalThis.Worker = class extends Worker {
    readonly #feed = activity.feed()
    constructor(...args: ConstructorParameters<typeof Worker>) {
      super(...args)
      this.addEventListener('message', () => this.#feed.called())
      this.addEventListener('error', () => this.#feed.end())
    }
    override terminate(): void {
      this.#feed.end()
      super.terminate()
    }
  }
}

/** Watches changes of the document, and added elements that have to load. */
function watchDocument(activity: Activity, added: (element: Element) => void): void {
  const watchLoading = (node: Node): void => {
    if (!(node instanceof Element)) return
    added(node)
    const isScript = node instanceof HTMLScriptElement && node.src !== '' && !/json/i.test(node.type)
    const isStyle = node instanceof HTMLLinkElement && node.relList.contains('stylesheet')
    if (!isScript && !isStyle) return
    const end = isScript ? activity.begin() : activity.expect()
    for (const event of ['load', 'error']) node.addEventListener(event, end, { once: true })
  }
  new MutationObserver((records) => {
    activity.touch()
    if (document.readyState === 'loading') return
    for (const record of records) {
      for (const node of record.addedNodes) watchLoading(node)
      activity.recordGrowth(addedBy(record))
    }
  }).observe(document, { childList: true, characterData: true, characterDataOldValue: true, subtree: true })
}

/** Returns the number of characters that a change has added to the document. */
function addedBy({ type, target, oldValue, addedNodes, removedNodes }: MutationRecord): number {
  if (type === 'characterData') return (target as CharacterData).length - (oldValue ?? '').length
  let chars = 0
  for (const node of addedNodes) chars += charsOf(node)
  for (const node of removedNodes) chars -= charsOf(node)
  return chars
}

const charsOf = (node: Node): number =>
  node instanceof HTMLScriptElement || node instanceof HTMLStyleElement ? 0 : (node.textContent?.length ?? 0)

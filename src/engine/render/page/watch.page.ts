/** Reports to an activity what the scripts of a page begin: timers, requests, streams, workers. */
import { type Activity, type Feed, longMs } from './activity.page.ts'

/** Installs the watch while the page's globals are still those of the browser; `added` is called with new elements. */
export function watchPage(activity: Activity, added: (element: Element) => void): void {
  watchTimers(activity)
  watchTasks(activity)
  watchRequests(activity)
  watchStreams(activity)
  watchDocument(activity, added)
}

/** Frames that hold up every page: the first ones bring content; an animation goes on for ever. */
const contentFrames = 10

type Handler = (this: unknown, ...given: unknown[]) => unknown

function watchTimers(activity: Activity): void {
  const { setTimeout, setInterval, clearTimeout } = globalThis
  const intervals = new Map<unknown, Feed>()
  const call = (method: unknown, ...given: unknown[]): unknown => Reflect.apply(method as Handler, globalThis, given)
  const clear = (id: unknown): void => {
    activity.endTimer(id)
    intervals.get(id)?.end()
    intervals.delete(id)
    // Timers and intervals share their numbers.
    call(clearTimeout, id)
  }
  Object.assign(globalThis, {
    setTimeout(handler: unknown, delay?: number, ...rest: unknown[]) {
      const id: unknown = call(
        setTimeout,
        around(handler, undefined, () => activity.endTimer(id)),
        delay,
        ...rest,
      )
      activity.addTimer(id, Number(delay) || 0)
      // A handler of text cannot be wrapped; what is set after it fires after it.
      if (typeof handler !== 'function') call(setTimeout, () => activity.endTimer(id), delay)
      return id
    },
    setInterval(handler: unknown, delay?: number, ...rest: unknown[]) {
      const everyMs = Math.max(Number(delay) || 0, 4)
      const feed = everyMs <= longMs ? activity.feed(everyMs) : undefined
      const id: unknown = call(
        setInterval,
        around(handler, () => feed?.called()),
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

/** A handler with calls before and after it; what is no function stays as it is. */
function around(handler: unknown, before?: () => void, after?: () => void): unknown {
  if (typeof handler !== 'function') return handler
  return function (this: unknown, ...given: unknown[]): unknown {
    before?.()
    try {
      return Reflect.apply(handler, this, given) as unknown
    } finally {
      after?.()
    }
  }
}

/** Frames, idle time and tasks that are put off. */
function watchTasks(activity: Activity): void {
  let frames = 0
  watchCallbacks('requestAnimationFrame', 'cancelAnimationFrame', () =>
    frames++ < contentFrames ? activity.begin() : activity.expect(),
  )
  watchCallbacks('requestIdleCallback', 'cancelIdleCallback', () => activity.expect())
  const { scheduler } = globalThis as { scheduler?: { postTask(...given: unknown[]): Promise<unknown> } }
  if (!scheduler?.postTask) return
  const { postTask } = scheduler
  scheduler.postTask = (...given) => {
    const task = Reflect.apply(postTask, scheduler, given)
    const { delay = 0 } = (given[1] ?? {}) as { delay?: number }
    const end = delay <= longMs ? activity.expect() : undefined
    if (end) task.then(end, end)
    return task
  }
}

function watchCallbacks(
  request: keyof typeof globalThis,
  cancel: keyof typeof globalThis,
  begin: () => () => void,
): void {
  const own = globalThis as unknown as Record<string, (...given: unknown[]) => unknown>
  const [ask, undo] = [own[request]!, own[cancel]!]
  const open = new Map<unknown, () => void>()
  const end = (id: unknown): void => {
    open.get(id)?.()
    open.delete(id)
  }
  own[request] = (handler: unknown, ...rest) => {
    const id: unknown = Reflect.apply(ask, globalThis, [around(handler, undefined, () => end(id)), ...rest])
    open.set(id, begin())
    return id
  }
  own[cancel] = (id) => {
    end(id)
    Reflect.apply(undo, globalThis, [id])
  }
}

function watchRequests(activity: Activity): void {
  const { fetch } = globalThis
  if (fetch) {
    globalThis.fetch = function (this: unknown, ...given: Parameters<typeof fetch>) {
      const end = activity.begin()
      const answer = Reflect.apply(fetch, globalThis, given)
      // The body is read after the headers; reading it changes the document soon after.
      answer.then(end, end)
      return answer
    }
  }
  const { send } = XMLHttpRequest.prototype
  XMLHttpRequest.prototype.send = function (...given) {
    const end = activity.begin()
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
        const end = activity.begin()
        const body = read.call(this)
        body.then(end, end)
        return body
      },
    })
  }
}

/** How long the first message of an open socket holds up every page. */
const firstMessageMs = 600

function watchStreams(activity: Activity): void {
  const { WebSocket, EventSource, Worker, setTimeout } = globalThis
  if (WebSocket) {
    globalThis.WebSocket = class extends WebSocket {
      constructor(...given: ConstructorParameters<typeof WebSocket>) {
        super(...given)
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
  }
  if (EventSource) {
    globalThis.EventSource = class extends EventSource {
      readonly #feed = activity.feed()
      constructor(...given: ConstructorParameters<typeof EventSource>) {
        super(...given)
        this.addEventListener('message', () => {})
        super.addEventListener('error', () => this.readyState === EventSource.CLOSED && this.#feed.end())
      }
      /** Events have names of their own. */
      override addEventListener(type: string, ...rest: unknown[]): void {
        if (type !== 'error' && type !== 'open') super.addEventListener(type, () => this.#feed.called())
        Reflect.apply(super.addEventListener, this, [type, ...rest])
      }
      override close(): void {
        this.#feed.end()
        super.close()
      }
    }
  }
  if (Worker) {
    globalThis.Worker = class extends Worker {
      readonly #feed = activity.feed()
      constructor(...given: ConstructorParameters<typeof Worker>) {
        super(...given)
        this.addEventListener('message', () => this.#feed.called())
        this.addEventListener('error', () => this.#feed.end())
      }
      override terminate(): void {
        this.#feed.end()
        super.terminate()
      }
    }
  }
}

/** Changes of the document, and what is put into it that has still to load. */
function watchDocument(activity: Activity, added: (element: Element) => void): void {
  const loading = (node: Node): void => {
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
      for (const node of record.addedNodes) loading(node)
      activity.grow(addedBy(record))
    }
  }).observe(document, { childList: true, characterData: true, characterDataOldValue: true, subtree: true })
}

/** Characters of text that a change has added to the document. */
function addedBy({ type, target, oldValue, addedNodes, removedNodes }: MutationRecord): number {
  if (type === 'characterData') return (target as CharacterData).length - (oldValue ?? '').length
  let chars = 0
  for (const node of addedNodes) chars += charsOf(node)
  for (const node of removedNodes) chars -= charsOf(node)
  return chars
}

const charsOf = (node: Node): number =>
  node instanceof HTMLScriptElement || node instanceof HTMLStyleElement ? 0 : (node.textContent?.length ?? 0)

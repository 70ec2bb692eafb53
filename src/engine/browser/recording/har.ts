/** Records the requests of a session as HTTP archive. */
import PQueue from 'p-queue'
import type { BrowserContext, Request, Response } from 'playwright'
import { setTimeout as pause } from 'node:timers/promises'
import { isUtf8 } from 'node:buffer'
import { limits } from '../../../core/limits/limits.ts'
import { writeAtomic } from '../../../core/state/files.ts'
import { type NetworkRecord, toHar } from '../network/to-har.ts'
import { failureText, pageOf } from '../page/net-reason.ts'
import { tabIdOf } from '../tabs/tab-ids.ts'
import { secretsOf } from '../credentials/session-secrets.ts'
import type { Recordable } from '../ports/batch-target.ts'
import { privacyOf } from '../privacy/privacy.ts'
import type { Recorder, RecordingOptions } from './recorder.ts'

const { harEntries, harChars, bodyBytes, bodiesBytes, readingBodies, lastBodiesMs } = limits.recording

export async function recordHar(
  { browserContext }: Recordable,
  { bodies = true }: RecordingOptions,
): Promise<Recorder> {
  const har = new HarRecording(browserContext, bodies)
  return { finish: (path) => har.finish(path), discard: async () => har.end() }
}

class HarRecording {
  readonly #context: BrowserContext
  readonly #bodies: boolean
  readonly #records: NetworkRecord[] = []
  /** IDs of the requests of this recording; others began before it. */
  readonly #ids = new WeakMap<Request, string>()
  /** Reads few bodies at once: the browser delivers each as a whole. */
  readonly #reading = new PQueue({ concurrency: readingBodies })
  #count = 0
  /** Length of the recorded URLs and headers. */
  #chars = 0
  #bodyBytes = 0
  #omitted = 0
  #omittedBodies = 0
  /** Requests while a person had control for a handoff. */
  #private = 0

  constructor(context: BrowserContext, bodies: boolean) {
    this.#context = context
    this.#bodies = bodies
    context.on('request', this.#onRequest).on('response', this.#onResponse)
    context.on('requestfinished', this.#onFinished).on('requestfailed', this.#onFailed)
  }

  end(): void {
    this.#context.off('request', this.#onRequest).off('response', this.#onResponse)
    this.#context.off('requestfinished', this.#onFinished).off('requestfailed', this.#onFailed)
    this.#reading.clear()
  }

  async finish(path: string): Promise<Record<string, unknown>> {
    await Promise.race([this.#reading.onIdle(), pause(lastBodiesMs)])
    this.end()
    await writeAtomic(path, JSON.stringify(secretsOf(this.#context).hide(toHar(this.#records))))
    const missing = [
      ...(this.#private > 0 ? [`${this.#private} requests during a handoff are missing`] : []),
      ...(this.#omitted > 0 ? [`${this.#omitted} requests beyond the first ${this.#count} are missing`] : []),
      ...(this.#omittedBodies > 0 ? [`${this.#omittedBodies} bodies are too large`] : []),
    ]
    return { entries: this.#count, ...(missing.length > 0 && { truncated: missing.join('; ') }) }
  }

  readonly #onRequest = (request: Request): void => {
    if (request.url().startsWith('data:')) return
    if (privacyOf(this.#context).active) return void this.#private++
    const size = request.url().length + lengthOf(request.headers())
    if (this.#count >= harEntries || this.#chars + size > harChars) return void this.#omitted++
    this.#chars += size
    this.#ids.set(request, `${++this.#count}`)
    this.#add(request, 'request', {
      url: request.url(),
      method: request.method(),
      headers: request.headers(),
      resource: request.resourceType(),
      ...this.#keep(this.#bodies ? request.postDataBuffer() : null),
    })
  }

  readonly #onResponse = (response: Response): void => {
    const headers = response.headers()
    if (this.#ids.has(response.request())) this.#chars += lengthOf(headers)
    const { 'content-type': mime, location } = headers
    this.#add(response.request(), 'response', { status: response.status(), headers, mime, location })
  }

  readonly #onFinished = (request: Request): void => {
    if (!this.#ids.has(request)) return
    const ended = Date.now()
    void this.#reading.add(() =>
      this.#readBody(request)
        .then((body) => this.#add(request, 'finished', { ...body, ended }))
        // The page is gone.
        .catch(() => this.#add(request, 'finished', { ended })),
    )
  }

  readonly #onFailed = (request: Request): void =>
    this.#add(request, 'failed', { error: failureText(this.#context, request) })

  async #readBody(request: Request): Promise<Record<string, unknown>> {
    const response = this.#bodies ? await request.response() : null
    const { responseBodySize } = await request.sizes()
    if (response && responseBodySize > bodyBytes) {
      this.#omittedBodies++
      return { bytes: responseBodySize }
    }
    if (!response || isBodiless(response.status())) return { bytes: responseBodySize }
    const bytes = await response.body().catch(() => {
      // The browser no longer has it.
      this.#omittedBodies++
      return null
    })
    return { bytes: responseBodySize, ...this.#keep(bytes) }
  }

  /** Returns a body as far as the limits allow. */
  #keep(bytes: Buffer | null): Record<string, unknown> {
    if (!bytes || bytes.length === 0) return {}
    if (bytes.length > bodyBytes || this.#bodyBytes + bytes.length > bodiesBytes) {
      this.#omittedBodies++
      return {}
    }
    this.#bodyBytes += bytes.length
    return isUtf8(bytes) ? { body: bytes.toString() } : { body: bytes.toString('base64'), encoding: 'base64' }
  }

  #add(request: Request, type: string, data: Record<string, unknown>): void {
    const request_id = this.#ids.get(request)
    if (request_id === undefined) return
    // Later requests may contain text that a person typed.
    const shown = privacyOf(this.#context).redact(data)
    const page = pageOf(request)
    const target = page && { target_id: tabIdOf(page) }
    this.#records.push({ kind: 'network', type, ts: Date.now(), ...target, data: { request_id, ...shown } })
  }
}

/** Returns whether responses with a status have no body: redirects and `204 No Content`. */
const isBodiless = (status: number): boolean => status === 204 || (status >= 300 && status < 400)

const lengthOf = (headers: Readonly<Record<string, string>>): number =>
  Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 0)

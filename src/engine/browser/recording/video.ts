/** Records the screencast of a session as WebM; a private page of the engine encodes it. */
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright'
import { Capacity } from '../../../core/access/capacity.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { newId } from '../../../core/ids.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { privateDir } from '../../../core/state/files.ts'
import { pageFunction } from '../page/page-function.ts'
import { castOf, type ScreencastFrame } from '../live/screencast.ts'
import type * as encoding from './encoder.page.ts'
import encoderScript from './encoder.page.ts?inline'
import type { Recordable } from '../ports/batch-target.ts'
import type { Recorder } from './recorder.ts'
import { WebmWriter } from './webm.ts'

const { videos, videoBytes, videoBitrate: bitrate, keyFrameMs, frameMs, maxMs } = limits.recording

const startEncoding = pageFunction<typeof encoding.startEncoding>(encoderScript, 'startEncoding')
const encodeFrame = pageFunction<typeof encoding.encodeFrame>(encoderScript, 'encodeFrame')
const finishEncoding = pageFunction<typeof encoding.finishEncoding>(encoderScript, 'finishEncoding')

/** Page of the encoder: WebCodecs need a secure context. It is never requested from the network. */
const encoderUrl = 'https://encoder.invalid/'

const capacity = new Capacity(videos, {
  full: `${videos} videos are being recorded`,
  amount: (amount) => `${amount} videos being recorded`,
  hint: 'stop one of them first',
})

/** @throws BaxError `no_capacity` or `rate_limited` when as many videos are being recorded as allowed */
export async function recordVideo(session: Recordable): Promise<Recorder> {
  // Only where no keys are in use, a session has no owner.
  const holder = { keyId: session.owner, admin: true }
  capacity.take(holder, 1)
  const release = () => capacity.release(holder, 1)
  try {
    return await openRecorder(session, release)
  } catch (error) {
    release()
    throw error
  }
}

async function openRecorder(session: Recordable, onEnd: () => void): Promise<Recorder> {
  const { page, close } = await session.openPrivatePage()
  try {
    await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '<title>Encoder</title>' }))
    await page.goto(encoderUrl)
    const video = new Video(page, join(session.files.folder, `.video-${newId('ses')}`))
    let stopCast = () => {}
    const shown = new Promise<void>((resolve) => {
      stopCast = castOf(session).watch((frame) => {
        video.show(frame)
        resolve()
      })
    })
    // The recording begins with what the tab shows now.
    await withDeadline(shown, { ms: frameMs, error: 'the tab shows nothing to record' }).catch((error: unknown) => {
      stopCast()
      const isClosed = !session.activePage || session.activePage.isClosed()
      throw isClosed ? new BaxError('target_closed', 'the page was closed', { cause: error }) : error
    })
    const end = async () => {
      stopCast()
      onEnd()
      await close()
    }
    return {
      finish: async (path) => {
        try {
          return await video.finish(path)
        } catch (error) {
          await video.discard()
          throw error
        } finally {
          await end()
        }
      },
      discard: async () => {
        try {
          await end()
        } finally {
          await video.discard()
        }
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Encodes frames one at a time; while one is being encoded, only the newest waits. */
class Video {
  readonly #page: Page
  readonly #temporary: string
  #startedAt = 0
  #size = { width: 0, height: 0 }
  #writer: WebmWriter | undefined
  #next: ScreencastFrame | undefined
  #work: Promise<void> | undefined
  #lastAt = -1
  #lastKeyAt = Number.NEGATIVE_INFINITY
  #ended = false
  #failure: Error | undefined
  #truncated: string | undefined

  constructor(page: Page, temporary: string) {
    this.#page = page
    this.#temporary = temporary
  }

  show(frame: ScreencastFrame): void {
    if (this.#ended || this.#truncated || this.#failure) return
    this.#next = frame
    this.#work ??= this.#encodeAll().finally(() => (this.#work = undefined))
  }

  async finish(path: string): Promise<Record<string, unknown>> {
    this.#ended = true
    await this.#work
    if (this.#failure)
      throw new BaxError('action_failed', `the video was not encoded: ${this.#failure.message}`, {
        cause: this.#failure,
      })
    const writer = this.#writer
    if (!writer) throw new BaxError('action_failed', 'the session showed nothing while it was recorded')
    // Show the last frame until the end.
    if (!this.#truncated) await this.#encode(undefined)
    const rest = this.#page.evaluate(finishEncoding, undefined)
    await this.#write(await withDeadline(rest, { ms: frameMs, error: 'the encoder does not answer' }))
    const duration = this.#lastAt
    await writer.finish(duration)
    await rename(this.#temporary, path)
    return { duration_ms: duration, ...this.#size, ...(this.#truncated && { truncated: this.#truncated }) }
  }

  async discard(): Promise<void> {
    this.#ended = true
    await this.#work
    await this.#writer?.close()
    await rm(this.#temporary, { force: true })
  }

  async #encodeAll(): Promise<void> {
    try {
      while (this.#next && !this.#ended) {
        const frame = this.#next
        this.#next = undefined
        this.#writer ??= await this.#start(frame)
        await this.#encode(frame.data)
        if (this.#writer.size > videoBytes) this.#truncated = `it ended at ${videoBytes} bytes`
      }
    } catch (error) {
      this.#failure = error as Error
    }
  }

  async #start({ width, height }: ScreencastFrame): Promise<WebmWriter> {
    // Codecs need even sizes.
    this.#size = { width: Math.max(2, width & ~1), height: Math.max(2, height & ~1) }
    await this.#page.evaluate(startEncoding, { ...this.#size, bitrate })
    this.#startedAt = performance.now()
    await privateDir(join(this.#temporary, '..'))
    return WebmWriter.create(this.#temporary, { ...this.#size, codec: 'V_VP8' })
  }

  async #encode(image: string | undefined): Promise<void> {
    const at = Math.min(maxMs, Math.max(this.#lastAt + 1, Math.round(performance.now() - this.#startedAt)))
    const key = at - this.#lastKeyAt >= keyFrameMs
    this.#lastAt = at
    if (key) this.#lastKeyAt = at
    const encoded = this.#page.evaluate(encodeFrame, { at, key, ...(image !== undefined && { image }) })
    await this.#write(await withDeadline(encoded, { ms: frameMs, error: 'the encoder does not answer' }))
  }

  async #write(frames: readonly encoding.EncodedFrame[]): Promise<void> {
    for (const { at, key, data } of frames) await this.#writer!.add({ at, key, data: Buffer.from(data, 'base64') })
  }
}

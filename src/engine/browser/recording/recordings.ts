/** Recordings of a session: HAR, trace and video, stored among its files. */
import { basename } from 'node:path'
import type { RecordingKind } from '../../../core/operation/command.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { privateDir } from '../../../core/state/files.ts'
import { oncePer } from '../../../core/once-per.ts'
import { pathInside } from '../files/session-files.ts'
import type { Recordable } from '../ports/batch-target.ts'
import type { Recorder, RecordingOptions } from './recorder.ts'

const defaultNames: Record<RecordingKind, string> = { har: 'network.har', trace: 'trace.zip', video: 'video.webm' }

interface Running {
  readonly recorder: Recorder
  readonly timer: NodeJS.Timeout
  /** Set when the recording has reached its longest time, and was stored. */
  stored?: Promise<Record<string, unknown>>
}

/** Returns the recordings of a session. */
export const recordingsOf = oncePer((session: Recordable) => new Recordings(session))

class Recordings {
  readonly #session: Recordable
  readonly #running = new Map<RecordingKind, Running>()
  readonly #starting = new Set<RecordingKind>()

  constructor(session: Recordable) {
    this.#session = session
    session.ended.addEventListener('abort', () => this.#discardAll(), { once: true })
  }

  async start(kind: RecordingKind, options: RecordingOptions): Promise<void> {
    if (this.#running.has(kind) || this.#starting.has(kind)) {
      throw new BaxError('conflict', `the session is already recording a ${kind}`, { hint: `run stop_${kind} first` })
    }
    this.#starting.add(kind)
    try {
      const recorder = await openRecorder(kind, this.#session, options)
      const { ended } = this.#session
      if (ended.aborted) await recorder.discard()
      ended.throwIfAborted()
      const timer = setTimeout(() => this.#endEarly(kind), limits.recording.maxMs)
      this.#running.set(kind, { recorder, timer: timer.unref() })
    } finally {
      this.#starting.delete(kind)
    }
  }

  async stop(kind: RecordingKind, name: string | undefined): Promise<Record<string, unknown>> {
    const running = this.#running.get(kind)
    if (!running) {
      throw new BaxError('conflict', `the session is not recording a ${kind}`, { hint: `run start_${kind} first` })
    }
    // A name that cannot be used must not end the recording.
    if (name !== undefined) pathInside(this.#session.files, name)
    clearTimeout(running.timer)
    this.#running.delete(kind)
    return running.stored ?? this.#store(kind, running.recorder, name)
  }

  #endEarly(kind: RecordingKind): void {
    const running = this.#running.get(kind)
    if (!running || running.stored) return
    const truncated = `it ended after ${limits.recording.maxMs / 60_000} minutes`
    running.stored = this.#store(kind, running.recorder, undefined).then((facts) => ({ ...facts, truncated }))
    // The call that stops the recording reports the error.
    running.stored.catch(() => {})
  }

  async #store(kind: RecordingKind, recorder: Recorder, wanted: string | undefined): Promise<Record<string, unknown>> {
    const { files } = this.#session
    const name = files.reserve(wanted ?? defaultNames[kind])
    const path = pathInside(files, name)
    try {
      await privateDir(files.folder)
      const facts = await recorder.finish(path)
      const { size } = await files.adopt(path, kind)
      return { name: basename(path), size, ...facts }
    } catch (error) {
      files.release(name)
      throw error
    }
  }

  #discardAll(): void {
    for (const { recorder, timer, stored } of this.#running.values()) {
      clearTimeout(timer)
      // The session and what it records are gone. A stored recording has ended before.
      if (!stored) recorder.discard().catch(() => {})
    }
    this.#running.clear()
  }
}

async function openRecorder(kind: RecordingKind, session: Recordable, options: RecordingOptions): Promise<Recorder> {
  if (kind === 'har') return (await import('./har.ts')).recordHar(session, options)
  if (kind === 'trace') return (await import('./trace.ts')).recordTrace(session)
  return (await import('./video.ts')).recordVideo(session)
}

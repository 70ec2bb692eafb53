/** Keeps what a person types during a handoff out of everything that the session reports. */
import type { BrowserContext } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import type { SessionEventType } from '../../../core/events/events.ts'
import { oncePer } from '../../../core/once-per.ts'
import { redacted, TypedText } from './typed-text.ts'

export const privacyOf = oncePer((_context: BrowserContext) => new Privacy())

/** Kinds of events with texts of pages. */
const ofPages: ReadonlySet<string> = new Set([
  'page',
  'console',
  'network',
  'dialog',
  'download',
  'tab',
  'recording',
  'approval',
])

/** Fields of these events that pages cannot fill with what was typed. */
const harmless: ReadonlySet<string> = new Set([
  'tab_id',
  'request_id',
  'method',
  'resource_type',
  'level',
  'type',
  'reason',
  'code',
  'answered_by',
  'approval_id',
  'kind',
  'command',
  'decision',
  'expires_at',
])

class Privacy {
  readonly typed = new TypedText({ withUrls: true })
  readonly #pauses = new Set<() => Promise<void>>()
  readonly #listeners = new Set<() => void>()
  #active = false
  /** The last time in which it was active. */
  #begun = Infinity
  #ended = -Infinity

  /** Whether a person has control for a handoff. */
  get active(): boolean {
    return this.#active
  }

  /** Returns whether it was active at a time, for what is reported late. */
  covers(at: number): boolean {
    return this.#active || (at >= this.#begun && at <= this.#ended)
  }

  /** @throws BaxError `conflict` for what must not start while it is active */
  assertInactive(): void {
    if (!this.#active) return
    throw new BaxError('conflict', 'a person has control of the session for a handoff, which is not recorded', {
      hint: 'retry when the person has returned control',
    })
  }

  /** Begins after everything that cannot leave out a time has ended. @throws the error of what could not end */
  async begin(): Promise<void> {
    this.#active = true
    this.#begun = Date.now()
    try {
      await Promise.all([...this.#pauses].map((pause) => pause()))
    } catch (error) {
      this.end()
      throw error
    }
  }

  end(): void {
    this.#active = false
    this.#ended = Date.now()
    for (const listener of this.#listeners) listener()
  }

  /** Calls `pause` before a person gets control; returns a function that stops it. */
  beforeBegin(pause: () => Promise<void>): () => void {
    this.#pauses.add(pause)
    return () => this.#pauses.delete(pause)
  }

  onEnd(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Returns the data of an event as it may be reported: without texts of pages while a person has control. */
  readonly screen = (type: SessionEventType, data: Record<string, unknown>): Record<string, unknown> => {
    if (!ofPages.has(type.split('.')[0]!)) return data
    return this.#active ? withoutTexts(data) : this.redact(data)
  }

  /** Returns a text of the current page as it may be reported: none of it while a person has control. */
  shown(text: string): string {
    return this.#active ? redacted : this.redact(text)
  }

  /** Returns a value without what was typed. */
  redact<Value>(value: Value): Value {
    return this.typed.isEmpty ? value : (mapTexts(value, (text) => this.typed.redact(text)) as Value)
  }
}

const withoutTexts = (data: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, harmless.has(name) ? value : mapTexts(value, () => redacted)]),
  )

/** Maps every string in a JSON value. */
function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map))
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapTexts(inner, map)]))
}

/** Records a session for its replay: its commands with the page before and after each, events and observations. */
import { catalogue } from '../../../commands/index.ts'
import type { SessionEvent } from '../../../core/events/events.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { CommandCall, CommandResult } from '../../../core/shapes/commands.ts'
import type { LiveSession } from '../ports/session.ts'
import type { ReplayLog, ReplayObservation } from '../ports/replay.ts'
import { type Captured, type CaptureOptions, capturePage, type Missing } from './capture.ts'
import { PageStore } from './page-store.ts'
import { Resources } from './resources.ts'
import { type PageSecrets, readSecrets } from './secrets.ts'
import { type Shortened, shortened } from './shortened.ts'

const { replay: replayLimit } = limits

/** A copy of a page whose content is in the store. */
export interface StoredPage extends Omit<Captured, 'html' | 'secrets'> {
  readonly parts?: readonly number[]
}

export interface ReplayStep {
  readonly call: CommandCall
  readonly result: CommandResult
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Number of the last event before it. */
  readonly seq: number
  readonly before?: StoredPage | Missing
  readonly after?: StoredPage | Missing
  /** Characters of the call and of its result that were left out. */
  readonly omitted: { readonly call: number; readonly result: number }
  /** Set when its texts go into a field whose text must not be stored. */
  readonly isSecret: boolean
}

const types = ({ command }: CommandCall): boolean => catalogue.get(command)?.input?.kind === 'text'

export class ReplayRecorder implements ReplayLog {
  readonly steps: ReplayStep[] = []
  readonly events: SessionEvent[] = []
  readonly observations: (Shortened<ReplayObservation> & { readonly step: number })[] = []
  readonly store = new PageStore()
  readonly secrets = new Set<string>()
  /** Commands and events beyond the limits. */
  readonly omitted = { steps: 0, events: 0 }
  readonly #session: LiveSession
  readonly #resources = new Resources()

  constructor(session: LiveSession) {
    this.#session = session
    const stop = session.events.listen((event) => this.#add(event))
    session.ended.addEventListener('abort', stop, { once: true })
  }

  get chars(): number {
    return this.store.chars
  }

  async begin(call: CommandCall, runs: boolean): Promise<(result: CommandResult) => Promise<void>> {
    const startedAt = Date.now()
    const { lastSeq: seq } = this.#session.events
    const selector = selectorOf(call)
    const [secrets, before] = await Promise.all([this.#learn(selector), runs ? this.#capture({ selector }) : undefined])
    const isSecret = isForSecret(call, secrets)
    if (isSecret) for (const text of textsOf(call)) this.secrets.add(text)
    return async (result) => {
      const mayChange = runs && !(isRead(call) && result.success)
      const [after] = mayChange
        ? await Promise.all([this.#capture({ listsControls: !result.success }), this.#learn()])
        : []
      if (this.#isFull) return void this.omitted.steps++
      this.steps.push({ ...recordOf(call, result), startedAt, seq, before, after, isSecret })
    }
  }

  observed({ snapshot, text, changes }: ReplayObservation): void {
    if (this.observations.length >= replayLimit.steps) return
    const seen = snapshot === undefined ? (text === undefined ? { changes } : { text }) : { snapshot }
    this.observations.push({ ...shortened(seen, 2 * replayLimit.observationChars), step: this.steps.length })
  }

  get #isFull(): boolean {
    return this.steps.length >= replayLimit.steps
  }

  /** Copies the page, unless there are too many commands already. */
  async #capture(options: CaptureOptions): Promise<StoredPage | Missing | undefined> {
    if (this.#isFull) return undefined
    const captured = await capturePage(this.#session, this.#resources, options)
    if (!('url' in captured)) return captured
    const { html, secrets, ...facts } = captured
    for (const secret of secrets) this.secrets.add(secret)
    const parts = html === undefined ? [] : this.store.add(html)
    if (!parts || !this.store.reserve(facts.picture?.length ?? 0))
      return { missing: 'the memory for copies of pages is used up' }
    return html === undefined ? facts : { ...facts, parts }
  }

  /** Learns what must not be in the replay. */
  async #learn(selector?: string): Promise<PageSecrets> {
    const secrets = await readSecrets(this.#session, selector)
    for (const value of secrets.values) this.secrets.add(value)
    return secrets
  }

  #add(event: SessionEvent): void {
    if (event.type.startsWith('command.') || event.type === 'recording.step') return
    if (this.events.length < replayLimit.events) this.events.push(event)
    else this.omitted.events++
  }
}

/** Starts to record a session. */
export function recordReplay(session: LiveSession): ReplayRecorder {
  const recorder = new ReplayRecorder(session)
  recorders.set(session, recorder)
  return recorder
}

/** Returns what the replay keeps of a command: twice what it shows, and no bytes. */
function recordOf(call: CommandCall, result: CommandResult): Pick<ReplayStep, 'call' | 'result' | 'omitted'> {
  const chars = 2 * replayLimit.textChars
  const { bytes } = catalogue.get(call.command) ?? {}
  const input = shortened(call.data, chars)
  const output = shortened(bytes && result.data ? { ...result.data, [bytes]: undefined } : result.data, chars)
  return {
    call: { ...call, ...(input.value && { data: input.value }) },
    result: { ...result, ...(output.value && { data: output.value }) },
    omitted: { call: input.omitted, result: output.omitted },
  }
}

const recorders = new WeakMap<object, ReplayRecorder>()

/** Returns the recorder of a session that records for its replay. */
export const recorderOf = (session: object): ReplayRecorder | undefined => recorders.get(session)

/** Returns whether the texts of a command go into a field whose text must not be stored, or may go there. */
function isForSecret(call: CommandCall, { isTarget, hasSecret, isFocused }: PageSecrets): boolean {
  if (isTarget ?? types(call)) return true
  // Of a form with such a field, which value belongs to it depends on the page.
  if (hasSecret && call.data?.['fields'] !== undefined) return true
  // Keys go to the focused element.
  return isFocused && types(call) && selectorOf(call) === undefined
}

function selectorOf({ data }: CommandCall): string | undefined {
  const selector = data?.['selector']
  return typeof selector === 'string' ? selector : undefined
}

/** Returns whether a command only reads, so that the page after it is the one before it. */
function isRead({ command }: CommandCall): boolean {
  const { kind, runsCode, waits } = catalogue.get(command) ?? {}
  return kind === 'extraction' && !runsCode && !waits
}

/** Returns the texts that a command types, without its selector and the names of keys. */
const textsOf = ({ data }: CommandCall): string[] =>
  Object.entries(data ?? {}).flatMap(([name, value]) =>
    typeof value === 'string' && value !== '' && !['selector', 'key', 'keys'].includes(name) ? [value] : [],
  )

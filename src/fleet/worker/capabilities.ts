/**
 * Checks whether the browser and Docker of a worker work: at its start, at intervals, and after a failure. Labels that
 * need one that does not work are withdrawn until it works again.
 */
import type { Log } from '../../core/config/config.ts'
import { asBaxError, type BaxError } from '../../core/errors/errors.ts'
import type { Capabilities as WorkingLabels, WorkerLabel } from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'

/** Program that a label needs. A check returns why it does not work, or null if it does. */
export type Need = 'browser' | 'docker'
export type Checks = Readonly<Record<Need, (fresh: boolean) => Promise<string | null>>>

const needs: Readonly<Partial<Record<WorkerLabel, Need>>> = { browser: 'browser', render: 'browser', shell: 'docker' }

export interface CapabilitiesOptions {
  /** Labels that the operator gave to the worker. */
  readonly labels: readonly WorkerLabel[]
  readonly checks: Checks
  readonly log: Log
  /** Called when the working labels have changed. */
  readonly onChange: () => void
  readonly checkMs?: number
}

const noAnswer = 'it did not answer in time'

export class Capabilities {
  readonly #options: CapabilitiesOptions
  /** Reasons why something does not work. */
  readonly #reasons = new Map<Need, string>()
  #checking: Promise<void> = Promise.resolve()
  /** Checks after failures that have not begun. */
  readonly #rechecks = new Map<Need, Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  private constructor(options: CapabilitiesOptions) {
    this.#options = options
  }

  /** Resolves after the first check. */
  static async start(options: CapabilitiesOptions): Promise<Capabilities> {
    const capabilities = new Capabilities(options)
    await capabilities.#check(false)
    capabilities.#schedule()
    return capabilities
  }

  works(): WorkingLabels {
    const { labels } = this.#options
    const reasons = labels.flatMap((label) => {
      const need = needs[label]
      const reason = need && this.#reasons.get(need)
      return reason === undefined ? [] : [[label, reason] as const]
    })
    const broken: WorkingLabels['broken'] = Object.fromEntries(reasons)
    return { labels: labels.filter((label) => broken[label] === undefined), broken }
  }

  /** Checks again what a failed request needed. Requests that fail before the check begins share it. */
  recheck({ code }: Pick<BaxError, 'code'>): Promise<void> {
    const need: Need = code === 'docker_unavailable' ? 'docker' : 'browser'
    const waiting = this.#rechecks.get(need)
    if (waiting) return waiting
    const check = this.#checking.then(() => {
      this.#rechecks.delete(need)
      return this.#isClosed ? undefined : this.#try(need, true)
    })
    this.#rechecks.set(need, check)
    return (this.#checking = check)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #schedule(): void {
    if (this.#isClosed) return
    const { checkMs = limits.fleet.checkMs } = this.#options
    const ms = this.#reasons.size > 0 ? checkMs / 3 : checkMs
    this.#timer = setTimeout(() => {
      this.#checking = this.#checking.then(() => this.#check(false)).then(() => this.#schedule())
    }, ms).unref()
  }

  async #check(fresh: boolean): Promise<void> {
    const needed = new Set(this.#options.labels.flatMap((label) => needs[label] ?? []))
    await Promise.all([...needed].map((need) => this.#try(need, fresh)))
  }

  async #try(need: Need, fresh: boolean): Promise<void> {
    const { checks, log, onChange } = this.#options
    const checked = withDeadline(checks[need](fresh), { ms: limits.fleet.answerCheckMs, error: noAnswer })
    const reason = await checked.catch((error: unknown) => asBaxError(error).message)
    if (this.#isClosed || reason === (this.#reasons.get(need) ?? null)) return
    if (reason === null) this.#reasons.delete(need)
    else this.#reasons.set(need, reason)
    const labels = this.#options.labels.filter((label) => needs[label] === need)
    if (reason === null) log('info', 'this worker gets work again', { labels })
    else log('error', 'labels of this worker do not work: it gets no work for them', { labels, reason })
    onChange()
  }
}

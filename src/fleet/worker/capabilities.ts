/**
 * Checks whether the browser and Docker of a worker work: at its start, at intervals, and after a failure. Labels that
 * need one that does not work are withdrawn until it works again.
 */
import type { Log } from '../../core/config/config.ts'
import { asBaxError, type BaxError } from '../../core/errors/errors.ts'
import type { Capabilities as Works, WorkerLabel } from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'

/** Things that labels need; a check returns why something does not work, null if it does. */
export type Need = 'browser' | 'docker'
export type Checks = Readonly<Record<Need, (fresh: boolean) => Promise<string | null>>>

const needs: Readonly<Partial<Record<WorkerLabel, Need>>> = { browser: 'browser', render: 'browser', shell: 'docker' }

export interface CapabilitiesOptions {
  /** Labels that the operator gave to the worker. */
  readonly labels: readonly WorkerLabel[]
  readonly checks: Checks
  readonly log: Log
  /** Called when something works no longer, or works again. */
  readonly onChange: () => void
  readonly checkMs?: number
}

export class Capabilities {
  readonly #options: CapabilitiesOptions
  /** Why something does not work. */
  readonly #reasons = new Map<Need, string>()
  #checking: Promise<void> = Promise.resolve()
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

  works(): Works {
    const { labels } = this.#options
    const reasons = labels.flatMap((label) => {
      const need = needs[label]
      const reason = need && this.#reasons.get(need)
      return reason === undefined ? [] : [[label, reason] as const]
    })
    const broken: Works['broken'] = Object.fromEntries(reasons)
    return { labels: labels.filter((label) => broken[label] === undefined), broken }
  }

  /** Checks again what a request needed in vain. */
  recheck({ code }: Pick<BaxError, 'code'>): void {
    const need: Need = code === 'docker_unavailable' ? 'docker' : 'browser'
    // Other requests fail for the same reason: one check is enough for all that wait for it.
    this.#checking = this.#checking.then(() => this.#try(need, true))
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
    const reason = await checks[need](fresh).catch((error: unknown) => asBaxError(error).message)
    if (this.#isClosed || reason === (this.#reasons.get(need) ?? null)) return
    if (reason === null) this.#reasons.delete(need)
    else this.#reasons.set(need, reason)
    const labels = this.#options.labels.filter((label) => needs[label] === need)
    if (reason === null) log('info', 'this worker gets work again', { labels })
    else log('error', 'this worker gets no work for some labels', { labels, reason })
    onChange()
  }
}

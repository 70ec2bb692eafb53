/** Tracks the downloads of a session, so that commands can wait for the ones that they have started. */
import { limits } from '../../../core/limits/limits.ts'
import type { CommandDownload } from '../../../core/shapes/session-files.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { clickedLink, type ContextTransfers, type DownloadFile } from '../cdp/transfers.ts'
import type { DownloadChance, DownloadMark, DownloadMarks } from '../ports/downloads.ts'
import { maybeDownloadMs, shownUrl } from './page-events.ts'

interface Requested {
  readonly number: number
  /** Whether it has stopped loading. */
  closing?: boolean
}

export class DownloadWatch implements DownloadMarks {
  readonly #downloads: CommandDownload[] = []
  /** Navigations by frame whose outcome is open; any of them may become a download. */
  readonly #requested = new Map<string, Requested>()
  #requests = 0
  /** Number of downloads that the browser has begun, and those of them that Playwright has not reported yet. */
  #begun = 0
  #unreported: DownloadFile[] = []
  #wake: (() => void)[] = []

  constructor(transfers: ContextTransfers) {
    transfers.onNavigation((frameId, state, file) => {
      const requested = this.#requested.get(frameId)
      if (state === 'requested') this.#requested.set(frameId, { number: ++this.#requests })
      else if (state === 'stopped') this.#closeSoon(frameId, requested)
      else this.#requested.delete(frameId)
      if (file) {
        this.#requested.delete(clickedLink)
        this.#begun++
        this.#unreported.push(file)
      }
      this.#changed()
    })
  }

  /** Counts a download that Playwright reports, even if it is not stored. */
  report(url: string): void {
    const at = this.#unreported.findIndex((file) => file.url === url)
    if (at >= 0) this.#unreported.splice(at, 1)
    this.#changed()
  }

  /** Adds a download; returns a function that records its end. */
  add(
    name: string,
    url: string,
    facts: Pick<CommandDownload, 'saved_by'> = {},
  ): (end: Pick<CommandDownload, 'state' | 'size' | 'error'>) => void {
    const at = this.#downloads.push({ name, url, state: 'in_progress', ...facts }) - 1
    this.#changed()
    return (end) => {
      this.#downloads[at] = { name, url, ...end, ...facts }
      this.#changed()
    }
  }

  mark(): DownloadMark {
    return { downloads: this.#downloads.length, begun: this.#begun, requests: this.#requests }
  }

  /**
   * Returns the downloads since the mark, after waiting for their ends within a limit, and unless there is no chance of
   * one for the outcome of the command's navigations.
   */
  async since(mark: DownloadMark, chance: DownloadChance, signal: AbortSignal): Promise<CommandDownload[]> {
    const isDecided = () => [...this.#requested.values()].every(({ number }) => number <= mark.requests)
    // A navigation of the command itself is not among the requested ones, and fails before its download is reported.
    if (chance === 'aborted') await this.#until(() => this.#begun > mark.begun, maybeDownloadMs, signal)
    if (chance !== 'none') await this.#until(isDecided, limits.session.downloadStartMs, signal)
    await this.#until(() => this.#unreported.length === 0, limits.session.downloadStartMs, signal)
    if (!signal.aborted) this.#giveUp()
    const found = () => this.#downloads.slice(mark.downloads)
    await this.#until(() => found().every(({ state }) => state !== 'in_progress'), limits.session.downloadMs, signal)
    return found()
  }

  /** Playwright does not report a download of a tab that it does not know yet. */
  #giveUp(): void {
    for (const { suggestedFilename: name, url } of this.#unreported.splice(0)) {
      this.#downloads.push({ name, url: shownUrl(url), state: 'failed', error: 'the browser did not store the file' })
    }
  }

  #closeSoon(frameId: string, requested: Requested | undefined): void {
    if (!requested || requested.closing) return
    requested.closing = true
    const close = () => {
      if (this.#requested.get(frameId) === requested) this.#requested.delete(frameId)
      this.#changed()
    }
    setTimeout(close, maybeDownloadMs).unref()
  }

  /** Waits until the condition holds, at most `ms`. */
  async #until(holds: () => boolean, ms: number, signal: AbortSignal): Promise<void> {
    if (holds() || signal.aborted) return
    const wait = async (over: AbortSignal) => {
      while (!over.aborted && !holds()) await new Promise<void>((resolve) => this.#wake.push(resolve))
    }
    // Running out of time is not a failure: the result says what is still in progress.
    await withDeadline(wait, { ms, signal }).catch(() => {})
  }

  #changed(): void {
    const wake = this.#wake
    this.#wake = []
    for (const resolve of wake) resolve()
  }
}

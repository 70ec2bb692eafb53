/** The document that a person is asked about: an approval does not apply to the next document of its frame. */
import type { Frame } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { documentIn } from '../page/internals.ts'
import type { ApprovedDocument } from '../ports/approvals.ts'
import { shownUrl } from '../tabs/page-events.ts'

const leftMessage = 'not executed: the page left before it was approved'

/** Builds the error of an action whose page is no longer the one that was asked about. */
export const pageLeft = (): BaxError => new BaxError('navigation_aborted', leftMessage)

/** Whether an error is that of an action whose page is no longer the one that was asked about. */
export const isPageLeft = (error: unknown): boolean => error instanceof BaxError && error.message === leftMessage

export class ShownDocument implements ApprovedDocument {
  readonly url: string
  readonly #frame: Frame
  readonly #document: object | undefined

  constructor(frame: Frame) {
    this.url = shownUrl(frame.url())
    this.#frame = frame
    this.#document = documentIn(frame)
  }

  assertShownIn(frame: Frame): void {
    if (frame !== this.#frame || !this.#isShown()) throw pageLeft()
  }

  /** Watches the frame until `release` is called; `left` is aborted when it shows something else. */
  watch(): { left: AbortSignal; release: () => void } {
    const page = this.#frame.page()
    const left = new AbortController()
    const check = () => {
      if (!this.#isShown()) left.abort(pageLeft())
    }
    page.on('framenavigated', check).on('framedetached', check).on('close', check)
    const release = () => void page.off('framenavigated', check).off('framedetached', check).off('close', check)
    return { left: left.signal, release }
  }

  #isShown(): boolean {
    const frame = this.#frame
    if (this.#document === undefined || frame.isDetached() || frame.page().isClosed()) return false
    return isSamePlace(frame.url(), this.url) && documentIn(frame) === this.#document
  }
}

/** Returns whether two URLs differ only by their anchors, which are places in the same page. */
const isSamePlace = (url: string, shown: string): boolean => withoutAnchor(shownUrl(url)) === withoutAnchor(shown)

const withoutAnchor = (url: string): string => url.split('#', 1)[0]!

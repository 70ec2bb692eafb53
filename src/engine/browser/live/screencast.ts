/** Screencast of a session's active tab, which runs only while there are listeners. */
import type { CDPSession, Page } from 'playwright'
import { limits } from '../../../core/limits/limits.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import { privacyOf } from '../privacy/privacy.ts'
import { tabIdOf } from '../tabs/tab-ids.ts'
import { oncePer } from '../../../core/once-per.ts'

export interface ScreencastFrame {
  readonly tab_id: string
  /** JPEG, base64. */
  readonly data: string
  readonly width: number
  readonly height: number
}

/** Returns the screencast of a session, shared by all listeners. */
export const castOf = oncePer((session: CastSource) => new Screencast(session))

type Listener = (picture: ScreencastFrame) => void

/** The session that a screencast shows. */
type CastSource = Pick<BatchTarget, 'browserContext' | 'activePage' | 'events'>

export class Screencast {
  readonly #session: CastSource
  /** Listeners, and whether each may see the page now. */
  readonly #listeners = new Map<Listener, () => boolean>()
  #shown: { readonly page: Page; readonly cdp: CDPSession } | undefined
  #latest: ScreencastFrame | undefined
  #lastChange: Promise<void> = Promise.resolve()
  #stopListening = () => {}

  /** Set when frames may still be from a time in which the listeners could not see the page. */
  #isStale = false

  constructor(session: CastSource) {
    this.#session = session
    privacyOf(session.browserContext).onEnd(() => {
      this.#isStale = true
      this.#follow()
    })
  }

  /**
   * Calls `listener` with every frame, the last one at once; returns a function that stops it. During a handoff only the
   * view of the person gets frames.
   */
  watch(listener: Listener, maySee = () => !privacyOf(this.#session.browserContext).active): () => void {
    this.#listeners.set(listener, maySee)
    if (this.#listeners.size === 1) {
      this.#session.browserContext.on('page', this.#follow)
      this.#stopListening = this.#session.events.listen(({ type }) => type === 'tab.activated' && this.#follow())
      this.#follow()
    } else if (this.#latest && !this.#isStale && maySee()) listener(this.#latest)
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return
      this.#session.browserContext.off('page', this.#follow)
      this.#stopListening()
      this.#follow()
    }
  }

  /** Moves the screencast to the active tab, or ends it without listeners; changes run one at a time. */
  readonly #follow = (): void => {
    // Ignore failures: the tab closed meanwhile, and its close event moves to the next one.
    this.#lastChange = this.#lastChange.then(() => this.#change()).catch(() => {})
  }

  async #change(): Promise<void> {
    const active = this.#listeners.size > 0 ? this.#session.activePage : undefined
    if (this.#shown?.page === active && !this.#isStale) return
    const before = this.#shown
    this.#shown = undefined
    this.#latest = undefined
    this.#isStale = false
    // The screencast of a closed page has ended with it.
    if (before && !before.page.isClosed()) await before.cdp.detach().catch(() => {})
    if (active) await this.#show(active)
  }

  async #show(page: Page): Promise<void> {
    page.once('close', () => setImmediate(this.#follow))
    const cdp = await this.#session.browserContext.newCDPSession(page)
    this.#shown = { page, cdp }
    const { width, height } = page.viewportSize() ?? limits.session.viewport
    cdp.on('Page.screencastFrame', ({ data, metadata, sessionId }) => {
      // Chromium sends the next frame after the acknowledgement, which limits the rate. The tab may close before that.
      setTimeout(() => cdp.send('Page.screencastFrameAck', { sessionId }).catch(() => {}), limits.stream.frameMs)
      if (this.#isStale || this.#shown?.cdp !== cdp) return
      const picture = { tab_id: tabIdOf(page), data, width: metadata.deviceWidth, height: metadata.deviceHeight }
      this.#latest = picture
      for (const [listener, maySee] of this.#listeners) if (maySee()) listener(picture)
    })
    await cdp.send('Page.startScreencast', { format: 'jpeg', quality: 60, maxWidth: width, maxHeight: height })
  }
}

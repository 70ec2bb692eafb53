/** Pictures of a session's active tab for as long as somebody looks; nothing is drawn or encoded otherwise. */
import type { BrowserContext, CDPSession, Page } from 'playwright'
import { limits } from '../../../core/limits/limits.ts'
import { tabIdOf } from '../tabs/tab-ids.ts'

export interface Picture {
  readonly tab_id: string
  /** JPEG, base64. */
  readonly data: string
  readonly width: number
  readonly height: number
}

const casts = new WeakMap<Stage, Screencast>()

/** The one cast of a stage, for all who look. */
export function castOf(stage: Stage): Screencast {
  let cast = casts.get(stage)
  if (!cast) casts.set(stage, (cast = new Screencast(stage)))
  return cast
}

type Listener = (picture: Picture) => void

/** What pictures are taken of. */
export interface Stage {
  readonly browserContext: BrowserContext
  readonly pages: readonly Page[]
}

export class Screencast {
  readonly #stage: Stage
  readonly #listeners = new Set<Listener>()
  #shown: { readonly page: Page; readonly cdp: CDPSession } | undefined
  #latest: Picture | undefined
  #turn: Promise<void> = Promise.resolve()

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** Calls `listener` with every picture, the last one at once; returns the way to stop. */
  watch(listener: Listener): () => void {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) {
      this.#stage.browserContext.on('page', this.#follow)
      this.#follow()
    } else if (this.#latest) listener(this.#latest)
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return
      this.#stage.browserContext.off('page', this.#follow)
      this.#follow()
    }
  }

  /** Brings the cast to the active tab, or to an end when nobody looks; one change after the other. */
  readonly #follow = (): void => {
    this.#turn = this.#turn
      .then(() => this.#change())
      .catch(() => {
        // The tab closed while it was turned to; its close event turns to the next one.
      })
  }

  async #change(): Promise<void> {
    const wanted = this.#listeners.size > 0 ? this.#stage.pages.at(-1) : undefined
    if (this.#shown?.page === wanted) return
    const before = this.#shown
    this.#shown = undefined
    this.#latest = undefined
    // A page that is gone took its cast along.
    if (before && !before.page.isClosed()) await before.cdp.detach().catch(() => {})
    if (wanted) await this.#show(wanted)
  }

  async #show(page: Page): Promise<void> {
    page.once('close', () => setImmediate(this.#follow))
    const cdp = await this.#stage.browserContext.newCDPSession(page)
    this.#shown = { page, cdp }
    const { width, height } = page.viewportSize() ?? limits.session.viewport
    cdp.on('Page.screencastFrame', ({ data, metadata, sessionId }) => {
      // The next picture comes when this one is acknowledged: that keeps the rate.
      // The tab may close before that.
      setTimeout(() => cdp.send('Page.screencastFrameAck', { sessionId }).catch(() => {}), limits.stream.pictureMs)
      const picture = { tab_id: tabIdOf(page), data, width: metadata.deviceWidth, height: metadata.deviceHeight }
      this.#latest = picture
      for (const listener of this.#listeners) listener(picture)
    })
    await cdp.send('Page.startScreencast', { format: 'jpeg', quality: 60, maxWidth: width, maxHeight: height })
  }
}

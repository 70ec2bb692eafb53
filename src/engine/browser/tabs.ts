/** The tabs of a session: which one is active, and what it shows. */
import type { BrowserContext, Page } from 'playwright'
import type { EventLog } from '../../core/events.ts'
import { limits } from '../../core/limits.ts'
import { protocol } from './hung-script.ts'
import { inTime } from './in-time.ts'
import { reportFileChoosers, shownUrl } from './page-events.ts'
import { tabIdOf } from './tab-ids.ts'

/** How long a title may take before the last known one is given: a hung page must not hold up a list. */
const titleMs = 250
/** The same when the session ends: closing a hung page is not held up. */
const lastTitleMs = 50
/** How long a tab that is being opened is waited for. */
const arrivalMs = 1000

interface Tab {
  readonly id: string
  readonly page: Page
}

interface TabsGround {
  readonly context: BrowserContext
  readonly pagesOpened?: () => number
}

interface Size {
  readonly width: number
  readonly height: number
}

export class Tabs {
  readonly #context: BrowserContext
  readonly #pagesOpened: () => number
  /** Tabs told of so far, the closed ones included. */
  #told = 0
  readonly #events: EventLog
  readonly #viewport: Size
  readonly #tabs: Tab[] = []
  readonly #aside = new WeakSet<Page>()
  /** Tabs that the engine itself is opening. */
  #awaited = 0
  #refused = 0
  #title = ''
  /** When the oldest question for a title was put that has no answer yet. */
  #unansweredSince: number | undefined
  /** Questions for a title that were put, and the newest that has its answer. */
  #asked = 0
  #answered = 0
  #crashed = false
  #frozen: { readonly url: string; readonly title: string } | undefined

  constructor({ context, pagesOpened }: TabsGround, events: EventLog, viewport: Size) {
    this.#context = context
    this.#pagesOpened = pagesOpened ?? (() => this.#told)
    this.#events = events
    this.#viewport = viewport
    for (const page of context.pages()) this.#add(page)
    context.on('page', (page) => {
      if (this.count >= limits.session.tabs && this.#awaited === 0) return this.#refuse(page)
      const { id } = this.#add(page)
      this.#events.emit('tab.opened', { tab_id: id, url: shownUrl(page.url()), tabs: this.count })
    })
  }

  get count(): number {
    return this.#own().length
  }

  get crashed(): boolean {
    return this.#crashed
  }

  get url(): string {
    return this.#frozen?.url ?? this.#own().at(-1)?.page.url() ?? 'about:blank'
  }

  get lastTitle(): string {
    return this.#frozen?.title ?? this.#title
  }

  /** Keeps what the active tab shows, for the time after the tabs are gone. */
  async freeze(): Promise<void> {
    const known = { url: this.url, title: this.#title }
    this.#frozen = known
    this.#frozen = { url: known.url, title: (await this.title(lastTitleMs)) || known.title }
  }

  /** The tabs in the order of their opening; the last one is active. */
  get pages(): readonly Page[] {
    return this.#own().map(({ page }) => page)
  }

  /** The newest tab that is still there; a fresh one when there is none, or when the active one has crashed. */
  async active(): Promise<Page> {
    await this.#arrived()
    const current = this.#own().at(-1)
    if (current && !this.#crashed) return current.page
    const page = await this.#context.newPage()
    this.#crashed = false
    return page
  }

  /** A tab for work of the engine's own: it is never the active one, and none of the session's tabs. */
  async openAside(): Promise<Page> {
    this.#awaited += 1
    try {
      const page = await this.#context.newPage()
      this.#aside.add(page)
      return page
    } finally {
      this.#awaited -= 1
    }
  }

  #own(): Tab[] {
    return this.#tabs.filter(({ page }) => !this.#aside.has(page))
  }

  /** Title of the active tab; the last known one while the page does not answer. */
  async title(withinMs = titleMs): Promise<string> {
    const page = this.#own().at(-1)?.page
    if (!page) return ''
    // A page that has let one question wait for too long is not asked again until it answers.
    const hung = this.#unansweredSince !== undefined && performance.now() - this.#unansweredSince >= titleMs
    // Late, closed, crashed or navigating: what was known stays.
    if (!hung) await inTime(this.#ask(page), withinMs, 'no title').catch(() => {})
    return this.#title
  }

  /** A tab that a click has opened is known to the browser before the click is answered, and to Playwright a little later. */
  async #arrived(): Promise<void> {
    const deadline = performance.now() + arrivalMs
    while (this.#pagesOpened() > this.#told && performance.now() < deadline) {
      const coming = this.#context.waitForEvent('page', { timeout: deadline - performance.now() })
      // One that closes as it opens never comes.
      await coming.catch(() => (this.#told = this.#pagesOpened()))
    }
  }

  async #ask(page: Page): Promise<void> {
    this.#unansweredSince ??= performance.now()
    const question = ++this.#asked
    try {
      const title = await page.title()
      // An answer that was overtaken tells of a page that has been left.
      if (question > this.#answered) [this.#answered, this.#title] = [question, title]
    } finally {
      this.#unansweredSince = undefined
    }
  }

  #add(page: Page): Tab {
    const tab: Tab = { id: tabIdOf(page), page }
    this.#told += 1
    this.#tabs.push(tab)
    this.#crashed = false
    this.#unansweredSince = undefined
    // A context keeps the size it was made with; tabs opened later are brought to the session's own.
    void this.#fit(page)
    // Opened while the page answers: through a later one, a script that hangs could not be cut. A page that closes needs none.
    void protocol(page).catch(() => {})
    reportFileChoosers(page, this.#events)
    page.once('close', () => this.#remove(tab))
    page.once('crash', () => {
      if (!this.#aside.has(page)) this.#crashed = this.#own().at(-1) === tab
      this.#events.emit('page.error', { tab_id: tab.id, message: 'the page crashed' })
      this.#remove(tab)
      // Already unusable: closing it only frees what is left in the browser.
      void page.close().catch(() => {})
    })
    page.on('load', () => {
      // A page that has loaded is alive, whatever it let wait before. One that closes as it loads has no title to tell.
      if (this.#own().at(-1) === tab) void this.#ask(page).catch(() => {})
    })
    return tab
  }

  async #fit(page: Page): Promise<void> {
    const size = page.viewportSize()
    if (!size || (size.width === this.#viewport.width && size.height === this.#viewport.height)) return
    // A tab that is closed at once needs no size.
    await page.setViewportSize({ ...this.#viewport }).catch(() => {})
  }

  /** One more than a session may have is closed; so is, before long, the page that goes on opening them. */
  #refuse(page: Page): void {
    this.#told += 1
    this.#refused += 1
    const tooMany = this.#refused % limits.session.refusedTabs === 0
    // What is closed already, or goes with its session, needs no closing.
    const quit = async () => {
      if (tooMany) await (await page.opener())?.close()
      await page.close()
    }
    void quit().catch(() => {})
    if (!tooMany) return
    const message = `a page that opens tabs without end was closed; a session has ${limits.session.tabs} at most`
    this.#events.emit('page.error', { tab_id: tabIdOf(page), message })
  }

  #remove(tab: Tab): void {
    const at = this.#tabs.indexOf(tab)
    if (at < 0) return
    this.#tabs.splice(at, 1)
    this.#unansweredSince = undefined
    this.#answered = this.#asked
    this.#title = ''
    this.#events.emit('tab.closed', { tab_id: tab.id, tabs: this.count })
  }
}

/** The tabs of a session: which one is active, and what it shows. */
import type { BrowserContext, Page } from 'playwright'
import type { BaxError } from '../../../core/errors/errors.ts'
import type { EventLog } from '../../../core/events/events.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { crashError, hasCrashed, loadFailure, reloadObstacle, watchCrash } from './crash.ts'
import { protocol } from './hung-script.ts'
import { reportFileChoosers, shownUrl } from './page-events.ts'
import { tabIdOf, takeTabId } from './tab-ids.ts'

/** How long a title may take before the last known one is given: a hung page must not hold up a list. */
const titleMs = 250
/** The same when the session ends: closing a hung page is not held up. */
const lastTitleMs = 50
/** How long a tab that is being opened is waited for. */
const arrivalMs = 1000

interface Tab {
  readonly id: string
  /** Replaced when the page has crashed. */
  page: Page
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
  /** The recovery of a crashed tab that is under way. */
  #recovery: Promise<BaxError> | undefined
  /** Pages that open while a crashed one is being replaced: one of them takes its place. */
  readonly #arrivals: Page[] = []
  #replacing = false
  #frozen: { readonly url: string; readonly title: string } | undefined

  constructor({ context, pagesOpened }: TabsGround, events: EventLog, viewport: Size) {
    this.#context = context
    this.#pagesOpened = pagesOpened ?? (() => this.#told)
    this.#events = events
    this.#viewport = viewport
    for (const page of context.pages()) this.#add(page)
    context.on('page', (page) => {
      if (this.#replacing) this.#arrivals.push(page)
      else this.#open(page)
    })
  }

  get count(): number {
    return this.#own().length
  }

  /** Whether the active tab has crashed. */
  get crashed(): boolean {
    const page = this.#own().at(-1)?.page
    return page !== undefined && hasCrashed(page)
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

  /**
   * The newest tab that is still open; a new one if there is none.
   * @throws BaxError `page_crashed`, once, when the page in it has crashed; the tab is reloaded by then.
   */
  async active(): Promise<Page> {
    await this.#arrived()
    const crash = await this.recover()
    if (crash) throw crash
    return this.#own().at(-1)?.page ?? this.#context.newPage()
  }

  /** Reloads the active tab if its page has crashed, and returns the failure that reports the crash. */
  async recover(): Promise<BaxError | undefined> {
    const tab = this.#own().at(-1)
    if (this.#recovery || !tab || !hasCrashed(tab.page)) return this.#recovery
    this.#recovery = this.#reload(tab).finally(() => (this.#recovery = undefined))
    return this.#recovery
  }

  async #reload(tab: Tab): Promise<BaxError> {
    const url = tab.page.url()
    const known = await reloadObstacle(tab.page)
    const fresh = await this.#replacePage(tab)
    const obstacle = known ?? (await loadFailure(fresh, url))
    if (hasCrashed(fresh)) await this.#replacePage(tab)
    this.#events.emit('tab.recovered', { tab_id: tab.id, url: shownUrl(url), reloaded: obstacle === undefined })
    return crashError({ url, obstacle })
  }

  /** A crashed page cannot be driven any more: a new one takes its place and its tab ID. */
  async #replacePage(tab: Tab): Promise<Page> {
    const crashed = tab.page
    this.#replacing = true
    try {
      tab.page = await this.#context.newPage()
    } finally {
      this.#replacing = false
      for (const page of this.#arrivals.splice(0)) if (page !== tab.page) this.#open(page)
    }
    takeTabId(tab.page, tab.id)
    this.#told += 1
    this.#watch(tab)
    // It is unusable: closing it only frees what is left in the browser.
    void crashed.close().catch(() => {})
    return tab.page
  }

  #open(page: Page): void {
    if (this.count >= limits.session.tabs && this.#awaited === 0) return this.#refuse(page)
    const { id } = this.#add(page)
    this.#events.emit('tab.opened', { tab_id: id, url: shownUrl(page.url()), tabs: this.count })
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
    if (hasCrashed(page)) return this.#title
    // A page that has let one question wait for too long is not asked again until it answers.
    const hung = this.#unansweredSince !== undefined && performance.now() - this.#unansweredSince >= titleMs
    // Late, closed, crashed or navigating: what was known stays.
    if (!hung) await withDeadline(this.#ask(page), { ms: withinMs }).catch(() => {})
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
    this.#watch(tab)
    return tab
  }

  #watch(tab: Tab): void {
    const { page } = tab
    watchCrash(page)
    this.#unansweredSince = undefined
    // A context keeps the size it was made with; tabs opened later are brought to the session's own.
    void this.#fit(page)
    // Opened while the page answers: through a later one, a script that hangs could not be cut. A page that closes needs none.
    void protocol(page).catch(() => {})
    reportFileChoosers(page, this.#events)
    page.once('close', () => tab.page === page && this.#remove(tab))
    page.once('crash', () => {
      this.#events.emit('page.error', { tab_id: tab.id, message: 'the page crashed', crashed: true })
      // A tab of the session stays, and is reloaded when it is used next.
      // Closing another one fails when it is gone already.
      if (this.#aside.has(page)) void page.close().catch(() => {})
    })
    page.on('load', () => {
      // A page that has loaded is alive, whatever it let wait before. One that closes as it loads has no title to tell.
      if (this.#own().at(-1)?.page === page) void this.#ask(page).catch(() => {})
    })
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

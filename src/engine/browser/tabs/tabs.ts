/** Tabs of a session: the active one, its URL and its title. */
import type { BrowserContext, Page } from 'playwright'
import type { BaxError } from '../../../core/errors/errors.ts'
import type { EventLog } from '../../../core/events/events.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { SessionHost } from '../ports/session-host.ts'
import { titleOf } from '../page/internals.ts'
import { watchFirstDocument } from '../input/delivery.ts'
import { crashedError, crashText, hasCrashed, loadFailure, reloadObstacle, watchCrash } from './crash.ts'
import { closeBlankTabs, isDownloadTab } from './download-tabs.ts'
import { cdpSessionOf } from '../page/hung-script.ts'
import { reportFileChoosers, shownUrl } from './page-events.ts'
import { refuser } from './refused-tabs.ts'
import { tabIdOf, takeTabId } from './tab-ids.ts'

/** Timeout for a title, after which the last known one is used, so that a hung page does not block a list. */
const titleMs = 250
/** Timeouts for the last title when the session ends, and for a tab that is being opened. */
const [lastTitleMs, arrivalMs] = [50, 1000]

type Viewport = { readonly width: number; readonly height: number }
type TabsHost = Pick<SessionHost, 'context' | 'page' | 'pagesOpened' | 'memoryExcess'>

export class Tabs {
  readonly #context: BrowserContext
  readonly #pagesOpened: () => number
  readonly #memoryExcess: TabsHost['memoryExcess']
  readonly #blankTabsClosed: () => Promise<void>
  readonly #refuse: (page: Page) => void
  /** Resolves when the first page has the size of the session, or could not be opened: the next use opens another. */
  readonly opened: Promise<void>
  #isStarting: boolean
  /** Number of tabs that Playwright has reported, including closed ones. */
  #reported = 0
  readonly #events: EventLog
  readonly #viewport: Viewport
  /** Pages in the order in which they were opened; a crashed one is replaced in its position. */
  readonly #pages: Page[] = []
  /** The same pages in the order of their last activation. */
  readonly #recent: Page[] = []
  readonly #background = new WeakSet<Page>()
  /** Number of background tabs that the engine is opening. */
  #opening = 0
  #title = ''
  /** Time of the oldest unanswered request for a title. */
  #unansweredSince: number | undefined
  /** Number of requests for a title, and the newest one that was answered. */
  #titleRequests = 0
  #latestAnswered = 0
  /** Pending recovery of a crashed tab. */
  #recovery: Promise<BaxError> | undefined
  /** Pages that opened during the replacement of a crashed one, including the new one. */
  readonly #openedMeanwhile: Page[] = []
  #replacing = false
  #frozen: { readonly url: string; readonly title: string } | undefined

  constructor(host: TabsHost, events: EventLog, viewport: Viewport) {
    const { context, page: first, pagesOpened } = host
    this.#context = context
    this.#memoryExcess = host.memoryExcess
    this.#pagesOpened = pagesOpened ?? (() => this.#reported)
    this.#events = events
    this.#refuse = refuser(events)
    this.#viewport = viewport
    this.#isStarting = first !== undefined && context.pages().length === 0
    this.#blankTabsClosed = closeBlankTabs(context)
    const fitted = context.pages().map((page) => this.#add(page))
    context.on('page', (page) => {
      if (this.#replacing) this.#openedMeanwhile.push(page)
      else if (this.#isStarting) fitted.push(this.#add(page))
      else this.#open(page)
    })
    this.opened = this.#start(first, fitted)
  }

  async #start(first: Promise<Page> | undefined, fitted: readonly Promise<void>[]): Promise<void> {
    if (first) await withDeadline(first, { ms: limits.pool.launchMs }).catch(() => {})
    this.#isStarting = false
    await Promise.all(fitted)
  }

  get count(): number {
    return this.pages.length + (this.#isStarting ? 1 : 0)
  }

  /** Whether the active tab has crashed. */
  get crashed(): boolean {
    const page = this.activePage
    return page !== undefined && hasCrashed(page)
  }

  get url(): string {
    const url = this.#frozen?.url ?? this.activePage?.url() ?? 'about:blank'
    // Internal page for a URL that could not be opened.
    return url.startsWith('chrome-error:') ? 'about:blank' : url
  }

  get lastTitle(): string {
    return this.#frozen?.title ?? this.#title
  }

  /** Stores the URL and title of the active tab, for use after the tabs are closed. */
  async freeze(): Promise<void> {
    const known = { url: this.url, title: this.#title }
    this.#frozen = known
    this.#frozen = { url: known.url, title: (await this.title(lastTitleMs)) || known.title }
  }

  /** The pages in the order in which they were opened, without background tabs. */
  get pages(): readonly Page[] {
    return this.#pages.filter((page) => !this.#background.has(page))
  }

  /** The page that was opened or activated last. */
  get activePage(): Page | undefined {
    return this.#recent.findLast((page) => !this.#background.has(page))
  }

  /** Makes a tab active, and shows it in a browser with windows. */
  async activate(page: Page): Promise<void> {
    const before = this.activePage
    remove(this.#recent, page)
    this.#recent.push(page)
    if (before !== page) {
      this.#forgetTitle()
      this.#events.emit('tab.activated', { tab_id: tabIdOf(page), url: shownUrl(page.url()) })
    }
    // A crashed page is reloaded by the next command.
    if (!hasCrashed(page)) await page.bringToFront()
  }

  /** Returns the page of the active tab, or opens one. @throws BaxError `page_crashed`, once, after its reload. */
  async active(): Promise<Page> {
    await this.opened
    await this.#waitForOpeningTabs()
    await this.#blankTabsClosed()
    const crash = await this.recover()
    if (crash) throw crash
    return this.activePage ?? this.#context.newPage()
  }

  /** Reloads the active tab if its page has crashed, and returns the error that reports the crash. */
  async recover(): Promise<BaxError | undefined> {
    const page = this.activePage
    if (this.#recovery || !page || !hasCrashed(page)) return this.#recovery
    this.#recovery = this.#reload(page).finally(() => (this.#recovery = undefined))
    return this.#recovery
  }

  async #reload(page: Page): Promise<BaxError> {
    const url = page.url()
    const known = await reloadObstacle(page)
    const fresh = await this.#replacePage(page)
    const obstacle = known ?? (await loadFailure(fresh, url))
    if (hasCrashed(fresh)) await this.#replacePage(fresh)
    this.#events.emit('tab.recovered', { tab_id: tabIdOf(page), url: shownUrl(url), reloaded: obstacle === undefined })
    return crashedError({ url, obstacle, text: crashText(page) })
  }

  /** Replaces a crashed page, which is unusable, by a new one with the same tab ID. */
  async #replacePage(crashed: Page): Promise<Page> {
    let fresh!: Page
    this.#replacing = true
    try {
      fresh = await this.#context.newPage()
      for (const list of [this.#pages, this.#recent]) {
        const at = list.indexOf(crashed)
        if (at >= 0) list[at] = fresh
      }
    } finally {
      this.#replacing = false
      for (const page of this.#openedMeanwhile.splice(0)) if (page !== fresh) this.#open(page)
    }
    takeTabId(fresh, crashed)
    this.#reported += 1
    void this.#watch(fresh)
    // Free its resources in the browser.
    void crashed.close().catch(() => {})
    return fresh
  }

  #open(page: Page): void {
    const isDownload = isDownloadTab(page)
    if (isDownload || (this.count >= limits.session.tabs && this.#opening === 0)) {
      this.#reported += 1
      // Ignore failures: the browser may have closed it.
      return isDownload ? void page.close().catch(() => {}) : this.#refuse(page)
    }
    void this.#add(page)
    this.#events.emit('tab.opened', { tab_id: tabIdOf(page), url: shownUrl(page.url()), tabs: this.count })
  }

  /** Opens a background tab for the engine's own work: it is never active, and not listed. */
  async openBackgroundTab(): Promise<Page> {
    this.#opening += 1
    try {
      const page = await this.#context.newPage()
      this.#background.add(page)
      return page
    } finally {
      this.#opening -= 1
    }
  }

  /** Returns the title of the active tab, or the last known one when the page does not answer. */
  async title(withinMs = titleMs): Promise<string> {
    const page = this.activePage
    if (!page) return ''
    if (hasCrashed(page)) return this.#title
    // Do not request the title again from a page that has not answered in time.
    const hung = this.#unansweredSince !== undefined && performance.now() - this.#unansweredSince >= titleMs
    // After a timeout, crash, close or navigation the last known title stays.
    if (!hung) await withDeadline(this.#ask(page), { ms: withinMs }).catch(() => {})
    return this.#title
  }

  /** Waits for tabs that the browser has opened, such as by a click, and that Playwright has not reported yet. */
  async #waitForOpeningTabs(): Promise<void> {
    const deadline = performance.now() + arrivalMs
    while (this.#pagesOpened() > this.#reported && performance.now() < deadline) {
      const nextPage = this.#context.waitForEvent('page', { timeout: deadline - performance.now() })
      // A tab that closes at once is never reported.
      await nextPage.catch(() => (this.#reported = this.#pagesOpened()))
    }
  }

  async #ask(page: Page): Promise<void> {
    this.#unansweredSince ??= performance.now()
    const request = ++this.#titleRequests
    try {
      const title = await titleOf(page)
      // An answer that arrives out of order belongs to a previous document.
      if (request > this.#latestAnswered) [this.#latestAnswered, this.#title] = [request, title]
    } finally {
      this.#unansweredSince = undefined
    }
  }

  #add(page: Page): Promise<void> {
    // Tabs are numbered in the order in which they appear.
    tabIdOf(page)
    this.#reported += 1
    this.#pages.push(page)
    this.#recent.push(page)
    return this.#watch(page)
  }

  #watch(page: Page): Promise<void> {
    watchCrash(page, this.#memoryExcess)
    this.#unansweredSince = undefined
    // A session of a page that hangs could not terminate its script, and later listeners would follow the page's own.
    void Promise.all([cdpSessionOf(page), watchFirstDocument(page)]).catch(() => {})
    reportFileChoosers(page, this.#events)
    page.once('close', () => this.#remove(page))
    page.once('crash', () => {
      this.#events.emit('page.error', { tab_id: tabIdOf(page), message: crashText(page), crashed: true })
      // Tabs of the session stay, and are reloaded on next use. Ignore failures: a background tab may be closed already.
      if (this.#background.has(page)) void page.close().catch(() => {})
    })
    page.on('load', () => {
      // A page that has loaded responds again. Ignore failures of a page that closes meanwhile.
      if (this.activePage === page) void this.#ask(page).catch(() => {})
    })
    return this.#fit(page)
  }

  /** Resizes a page of a context that has another viewport size than the session. */
  async #fit(page: Page): Promise<void> {
    const size = page.viewportSize()
    if (!size || (size.width === this.#viewport.width && size.height === this.#viewport.height)) return
    // Ignore failures of a tab that closes meanwhile.
    await page.setViewportSize({ ...this.#viewport }).catch(() => {})
  }

  #remove(page: Page): void {
    // A crashed page was replaced.
    if (!remove(this.#pages, page)) return
    remove(this.#recent, page)
    this.#forgetTitle()
    this.#events.emit('tab.closed', { tab_id: tabIdOf(page), tabs: this.count })
  }

  /** Forgets the title of the tab that was active, and ignores pending answers for it. */
  #forgetTitle(): void {
    this.#unansweredSince = undefined
    this.#latestAnswered = this.#titleRequests
    this.#title = ''
  }
}

/** Removes a page from a list; returns whether it was in it. */
const remove = (pages: Page[], page: Page): boolean =>
  pages.includes(page) && pages.splice(pages.indexOf(page), 1).length > 0

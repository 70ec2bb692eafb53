/** A recording of one session: collects the steps of its input, its navigations and its tabs, in order. */
import type { EventEmitter } from 'node:events'
import type { BrowserContext, FileChooser, Page } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { SessionEvent } from '../../../core/events/events.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { RecordedStep } from '../../../core/shapes/recording.ts'
import { oncePer } from '../../../core/once-per.ts'
import type { LiveSession } from '../ports/session.ts'
import { privacyOf } from '../privacy/privacy.ts'
import type { ClosedDialog } from '../ports/dialogs.ts'
import { stepOf } from './actions.ts'
import { hiddenGlob, hideSteps } from './hidden-steps.ts'
import { type Navigation, watchNavigations } from './navigations.ts'
import { startRecorder } from './playwright-recorder.ts'
import { StepList } from './step-list.ts'
import watchScript from './watch.page.ts?inline'

/** Time in which input is reported that happened before a navigation, a dialog or another tab. */
const withheldMs = 900
/** Time in which a navigation counts as caused by an input. */
const causedMs = 2000
/** Time in which a navigation begins that the click of a script waits for. */
const atOnceMs = 100

/** Time for pages to report the last input before the end, in milliseconds. */
const reportedMs = 1000

/** Runs in the page: waits until the input so far is reported. */
async function inputReported(): Promise<void> {
  // Clicks are reported after the listeners of the page.
  await new Promise((resolve) => setTimeout(resolve))
  await (globalThis as { baxRecorderReports?: () => Promise<unknown> }).baxRecorderReports?.()
}

const watchRecorder = `(() => { ;${watchScript}; __bax_module.watchRecorder() })()`

/** Work on the timeline that waits for earlier input, which the recorder may still withhold. */
interface Pending {
  readonly at: number
  readonly apply: () => void
}

/** Adds the script to later documents of a context, for good: the recorder's toolbar also stays in them. */
const watchOnce = oncePer<BrowserContext, Promise<unknown>>((context) =>
  context.addInitScript({ content: watchRecorder }),
)

export class Recording {
  readonly #session: LiveSession
  readonly #steps = new StepList((index, step) => this.#report(index, step))
  /** Tabs as a new session would number them. */
  readonly #tabs = new Map<Page, string>()
  #active: Page | undefined
  /** Index of the step that an update of the recorder replaces. */
  #latest: number | undefined
  readonly #pending: Pending[] = []
  readonly #lastInput = new WeakMap<Page, number>()
  /** URLs of the pages, as the steps so far have left them. */
  readonly #urls = new WeakMap<Page, string>()
  readonly #release: (() => unknown)[] = []
  #isFull = false
  #startUrl = 'about:blank'

  constructor(session: LiveSession) {
    this.#session = session
  }

  get steps(): readonly RecordedStep[] {
    return hideSteps(this.#steps.all, this.#session.browserContext)
  }

  /** URL of the page on which the recording started. */
  get startUrl(): string {
    return this.#startUrl
  }

  /** @throws BaxError `unsupported` when the installed Playwright has no recorder. */
  async start(): Promise<void> {
    const { browserContext } = this.#session
    this.#release.push(
      await startRecorder(browserContext, {
        added: (page, action) => this.#act(page, action, false),
        updated: (page, action) => this.#act(page, action, true),
      }),
    )
    await watchOnce(browserContext)
    const pages = this.#session.pages
    this.#active = await this.#session.page()
    this.#startUrl = this.#active.url()
    this.#number(this.#active)
    await Promise.all([...new Set([...pages, this.#active])].map((page) => this.#watch(page)))
    const onPage = (page: Page) => this.#opened(page)
    browserContext.on('page', onPage)
    this.#release.push(() => browserContext.off('page', onPage))
    const onEvent = ({ type, data }: SessionEvent) => {
      if (type !== 'download.started') return
      const text = `downloads ${JSON.stringify(data['filename'])}`
      this.#later(Date.now(), () => this.#steps.remark(text))
    }
    this.#release.push(this.#session.events.listen(onEvent))
    const later = (dialog: ClosedDialog) => this.#later(dialog.openedAt, () => this.#answered(dialog))
    const onAnswer = (dialog: ClosedDialog) => (this.#isPrivate(Date.now()) ? undefined : later(dialog))
    this.#release.push(this.#session.dialogs.watch(onAnswer))
  }

  /** Stops after everything that has happened is recorded. */
  async stop(): Promise<void> {
    // The recorder does not wait for reports that are on their way.
    const reported = this.#session.pages.flatMap((page) => page.frames()).map((frame) => frame.evaluate(inputReported))
    await withDeadline(Promise.allSettled(reported), { ms: reportedMs, value: undefined })
    const [stopRecorder, ...others] = this.#release.splice(0)
    try {
      await stopRecorder?.()
    } finally {
      await Promise.allSettled(others.map((release) => release()))
      this.#flush(Infinity)
    }
  }

  async #watch(page: Page): Promise<void> {
    // Documents that have loaded before; those of later ones get the script at their start. Frames may go meanwhile.
    await Promise.allSettled(page.frames().map((frame) => frame.evaluate(watchRecorder)))
    this.#urls.set(page, page.url())
    const onClose = () => this.#later(Date.now(), () => this.#closed(page))
    page.once('close', onClose)
    this.#release.push(() => page.off('close', onClose))
    if (!this.#session.sketch().headless) this.#release.push(showFileChoosers(page))
    const report = (seen: Navigation, at: number) => this.#later(at, () => this.#navigated(page, seen, at))
    const fail = (error: Error) => this.#warn(`a navigation to ${page.url()} was not recorded: ${error.message}`)
    try {
      this.#release.push(await watchNavigations(page, report, fail))
    } catch (error) {
      // The page has closed again.
      if (!page.isClosed()) fail(error as Error)
    }
  }

  #act(page: Page, action: unknown, isUpdate: boolean): void {
    try {
      const recorded = stepOf(action)
      if (!recorded) return
      const { at, step, includesClick } = recorded
      if (this.#isPrivate(at)) return
      this.#flush(at)
      this.#lastInput.set(page, at)
      const before = this.#steps.all[this.#latest ?? -1]
      const isClick = page === this.#active && /^(?:click|double_click|click_advanced)$/.test(before?.command ?? '')
      if (before && (isUpdate || (isClick && includesClick(before)))) return this.#steps.put(this.#latest!, step)
      const longer = before && continued(before, step)
      if (longer && page === this.#active) return this.#steps.put(this.#latest!, longer)
      this.#select(page)
      this.#latest = this.#add(step)
    } catch (error) {
      if (!(error instanceof BaxError)) throw error
      this.#warn(error.message)
    }
  }

  #navigated(page: Page, { command, url, mayBeCaused, startedAt }: Navigation, at: number): void {
    const input = this.#lastInput.get(page)
    // An input causes one navigation.
    if (mayBeCaused) this.#lastInput.delete(page)
    const isCaused = mayBeCaused && input !== undefined && at - input < causedMs
    // A script would not wait for it: only for navigations that begin at once.
    const isLate = isCaused && page === this.#active && startedAt - input > atOnceMs
    const glob = isLate ? hiddenGlob(url, this.#urls.get(page), this.#session.browserContext) : undefined
    this.#urls.set(page, url)
    if (this.#isPrivate(at)) return
    if (glob !== undefined) return void this.#add({ command: 'wait_for', data: { url: glob } })
    if (command === null || isCaused) return
    if (!/^https?:|^data:|^file:/.test(url)) return
    this.#select(page)
    this.#add({ command, data: command === 'navigate_to' ? { url } : {} })
  }

  #opened(page: Page): void {
    const at = Date.now()
    let opener: Page | null = null
    void page.opener().then((from) => (opener = from))
    void this.#watch(page)
    // The session has sorted out its background tabs by then.
    this.#later(at, () => {
      // A popup can have closed itself again.
      const isOwn = page.isClosed() ? opener !== null : this.#session.pages.includes(page)
      if (!isOwn) return
      this.#number(page)
      this.#active = page
      // The input that opened a popup does so again.
      if (!opener) this.#add({ command: 'new_tab', data: {} })
    })
  }

  /** Adds the answer to a dialog before the step that opened it. */
  #answered({ accepted, message, text, type }: ClosedDialog): void {
    if (type === 'alert' || (type === 'beforeunload' && accepted)) return
    const opener = Math.max(0, this.#steps.all.length - 1)
    if (this.#commandAt(opener - 1) === 'answer_dialog')
      return this.#warn(`the answer to a second dialog was not recorded: ${type} ${JSON.stringify(message)}`)
    if (this.#isFull) return
    const answer = type === 'prompt' && accepted && text !== undefined ? { text } : {}
    this.#steps.insert(opener, { command: 'answer_dialog', data: { accept: accepted, ...answer } })
    if (this.#latest !== undefined) this.#latest += 1
  }

  #commandAt = (index: number | undefined) => this.#steps.all[index ?? -1]?.command

  #closed(page: Page): void {
    const tab = this.#tabs.get(page)
    if (tab === undefined || this.#session.ended.aborted) return
    this.#tabs.delete(page)
    const open = this.#session.pages
    if (this.#active === page) this.#active = open.at(-1)
    if (open.length > 0) this.#add({ command: 'close_tab', data: { tab } })
  }

  /** Adds the step that makes the tab of the next step active. */
  #select(page: Page): void {
    if (page === this.#active) return
    this.#active = page
    const tab = this.#tabs.get(page)
    if (tab !== undefined) return void this.#add({ command: 'switch_tab', data: { tab } })
    // A tab from before the recording.
    this.#number(page)
    this.#add({ command: 'new_tab', data: { url: page.url() } })
  }

  #number(page: Page): void {
    this.#count += 1
    this.#tabs.set(page, `tab_${this.#count}`)
  }
  #count = 0

  /** Adds a step that later input does not change; returns its index unless the recording is full. */
  #add(step: RecordedStep): number | undefined {
    this.#latest = undefined
    if (this.#isFull) return undefined
    if (this.#steps.isFull) {
      this.#isFull = true
      this.#warn(`the recording has ${limits.scriptRecording.steps} steps, and later ones are not recorded`)
      return undefined
    }
    const index = this.#steps.all.length
    this.#steps.put(index, step)
    return index
  }

  #report(index: number, step: RecordedStep): void {
    this.#session.events.emit('recording.step', { index, ...step })
    // A person who works in the page keeps the session.
    void this.#session.use(async () => {})
  }

  /** Applies what happened at a time after the input before it, which arrives late. */
  #later(at: number, apply: () => void): void {
    this.#pending.push({ at, apply })
    const timer = setTimeout(() => this.#flush(at + 1), withheldMs)
    timer.unref()
  }

  #flush(before: number): void {
    this.#pending.sort((a, b) => a.at - b.at)
    while ((this.#pending[0]?.at ?? Infinity) < before) this.#pending.shift()!.apply()
  }

  /** Returns whether a person had control for a handoff at a time; reports once that this is not recorded. */
  #isPrivate(at: number): boolean {
    if (!privacyOf(this.#session.browserContext).covers(at)) return (this.#hasPrivate = false)
    if (!this.#hasPrivate) this.#warn('what a person did for a handoff is not recorded')
    this.#latest = undefined
    return (this.#hasPrivate = true)
  }
  #hasPrivate = false

  /** Reports what was not recorded, also in the script. */
  #warn(message: string): void {
    this.#steps.remark(message)
    this.#session.events.emit('error', { code: 'unsupported', message })
  }
}

/** Returns the step for text that is typed after other text of the same element; undefined for other steps. */
function continued(before: RecordedStep, { command, data }: RecordedStep): RecordedStep | undefined {
  if (!/^(?:type_text|insert_text)$/.test(command)) return undefined
  if (before.command !== command || before.data['selector'] !== data['selector']) return undefined
  const text = `${String(before.data['text'])}${String(data['text'])}`
  return text.length > limits.input.typedChars ? undefined : { ...before, data: { ...data, text } }
}

/** Lets the browser show file choosers, which listeners prevent, until the returned function is called. */
function showFileChoosers(page: Page): () => void {
  const type = 'filechooser'
  const listeners = (page as unknown as EventEmitter<{ [type]: [FileChooser] }>).listeners(type)
  for (const listener of listeners) page.off(type, listener)
  return () => {
    for (const listener of listeners) page.on(type, listener)
  }
}

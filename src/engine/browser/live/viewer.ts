/** One live view: shows a session over a link, and lets a person with the control drive it. */
import { faultsOf, sentenceOf } from '../../../core/errors/input-errors.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { SessionEvent } from '../../../core/events/events.ts'
import { limits } from '../../../core/limits/limits.ts'
import { closeCodes, type Link } from '../../../core/net/link.ts'
import { retryPassing } from '../../../core/errors/transient-errors.ts'
import { type LiveDialog, type LiveInput, liveInput, type LiveMessage } from '../../../core/shapes/live-view.ts'
import { openableUrl } from '../../../core/net/urls.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { leave, protocol } from '../tabs/hung-script.ts'
import { translated } from '../batch/playwright-errors.ts'
import { castOf, type Picture } from './screencast.ts'
import type { Session } from '../session/session.ts'
import { tabIdOf } from '../tabs/tab-ids.ts'
import type { Grant } from './frame-tokens.ts'
import { type Hand, handOf, type Person } from './control-lock.ts'
import { PageInput } from './input.ts'

/** After these the tabs may look otherwise. */
const changesTabs: ReadonlySet<string> = new Set(['tab.opened', 'tab.closed', 'page.navigated', 'page.loaded'])

export class Viewer implements Person {
  readonly #session: Session
  readonly #link: Link
  readonly #grant: Grant
  readonly #hand: Hand
  readonly #gone = new AbortController()
  #input: PageInput | undefined
  #latest: Picture | undefined
  #sending = false
  #stage = ''
  #listing = false
  #listAgain = false
  #second = 0
  #heard = 0

  constructor(session: Session, link: Link, grant: Grant) {
    this.#session = session
    this.#link = link
    this.#grant = grant
    this.#hand = handOf(session)
  }

  get gone(): AbortSignal {
    return this.#gone.signal
  }

  /** Shows everything from now on, until the link or the session ends. */
  start(): void {
    const { events, sessionId, name, ended } = this.#session
    this.#link.handle({
      onText: (text) => void this.#hear(text),
      onBytes: () => this.#link.close(closeCodes.protocol, 'a live view is spoken to in text'),
      onClose: () => this.#gone.abort(),
    })
    this.#tell({
      type: 'hello',
      session_id: sessionId,
      name,
      may_control: this.#grant.control,
      viewport: this.#session.viewport,
    })
    this.#hand.watch(this)
    this.onControl()
    for (const event of events.since(Math.max(0, events.lastSeq - limits.live.events))) this.#show(event)
    this.#list()
    const stop = [
      events.listen((event) => this.#show(event)),
      castOf(this.#session).watch((picture) => this.#picture(picture)),
    ]
    const onEnded = () => this.#link.close(closeCodes.browserGone, 'the session has ended')
    ended.addEventListener('abort', onEnded, { once: true })
    this.#gone.signal.addEventListener('abort', () => {
      for (const one of stop) one()
      ended.removeEventListener('abort', onEnded)
    })
  }

  onControl(): void {
    const { holder, wanted } = this.#hand
    const who = holder === undefined ? 'nobody' : holder === this ? 'you' : 'another'
    this.#tell({ type: 'control', holder: who, waiting: wanted === this })
  }

  onDialog(dialog: LiveDialog | null): void {
    this.#tell({ type: 'dialog', dialog })
  }

  #tell(message: LiveMessage): void {
    if (this.#link.buffered > limits.live.waitingBytes) {
      this.#link.close(closeCodes.slow, 'the view does not keep up')
      this.#gone.abort()
    } else this.#link.sendText(JSON.stringify(message))
  }

  #show(event: SessionEvent): void {
    this.#tell({ type: 'event', event })
    if (changesTabs.has(event.type)) this.#list()
  }

  /** Tells of the tabs; of changes that come meanwhile once more afterwards. */
  #list(): void {
    this.#listAgain = this.#listing
    if (this.#listing || this.#gone.signal.aborted) return
    this.#listing = true
    void this.#tabs().then((tabs) => {
      this.#listing = false
      this.#tell({ type: 'tabs', tabs })
      if (this.#listAgain) this.#list()
    })
  }

  #tabs() {
    const { pages } = this.#session
    return Promise.all(
      pages.map(async (page) => {
        // A page that hangs or goes is told of without its title.
        const title = await withDeadline(page.title(), { ms: limits.session.titleMs }).catch(() => '')
        return { tab_id: tabIdOf(page), url: page.url(), title, active: page === pages.at(-1) }
      }),
    )
  }

  /** A link that is slow gets the newest picture only. */
  #picture(picture: Picture): void {
    this.#latest = picture
    if (this.#sending) return
    this.#sending = true
    this.#latest = undefined
    const { width, height, data } = picture
    const stage = `${width}x${height}`
    if (stage !== this.#stage) this.#tell({ type: 'stage', width, height })
    this.#stage = stage
    this.#link.sendBytes(Buffer.from(data, 'base64'), () => {
      this.#sending = false
      if (this.#latest) this.#picture(this.#latest)
    })
  }

  async #hear(text: string): Promise<void> {
    if (this.#isFlooding()) return this.#link.close(closeCodes.protocol, 'more messages than hands can make')
    try {
      await this.#act(read(text))
    } catch (thrown) {
      const error = translated(thrown, 'the live view')
      this.#tell({ type: 'error', error: error.message, code: error.code })
    }
  }

  #isFlooding(): boolean {
    const second = Math.floor(performance.now() / 1000)
    if (second !== this.#second) this.#heard = 0
    this.#second = second
    this.#heard += 1
    return this.#heard > limits.live.messagesPerSec
  }

  async #act(input: LiveInput): Promise<void> {
    if (!this.#grant.control) {
      throw new BaxError('unauthorized', 'this token lets you watch only', {
        hint: '`bax session view --control` makes one that lets you drive',
      })
    }
    if (input.type === 'take') return this.#hand.take(this)
    if (input.type === 'return') return this.#hand.handBack(this)
    this.#hand.use(this)
    if (input.type === 'dialog') return this.#hand.answerDialog(input)
    if (input.type === 'navigate' || input.type === 'history') return this.#go(input)
    const page = await this.#session.page()
    if (this.#input?.page !== page) this.#input = new PageInput(page, protocol(page))
    if (input.type === 'mouse') Object.assign(this.#session.pointer, { x: input.x, y: input.y })
    if (input.type === 'mouse') this.#input.mouse(input)
    else if (input.type === 'key') this.#input.key(input)
    else this.#input.text(input.text)
  }

  async #go(input: Extract<LiveInput, { type: 'navigate' | 'history' }>): Promise<void> {
    const url = input.type === 'navigate' ? openableUrl(input.url) : undefined
    const limit = { timeout: limits.command.navigationMs, waitUntil: 'commit' as const }
    await leave(await this.#session.page(), async (page) => {
      if (url !== undefined) await retryPassing(() => page.goto(url, limit))
      else if (input.type === 'history') await history[input.go](page, limit)
    })
  }
}

type Going = (
  page: Awaited<ReturnType<Session['page']>>,
  limit: { timeout: number; waitUntil: 'commit' },
) => Promise<unknown>

const history: Readonly<Record<'back' | 'forward' | 'reload', Going>> = {
  back: (page, limit) => page.goBack(limit),
  forward: (page, limit) => page.goForward(limit),
  reload: (page, limit) => page.reload(limit),
}

/** @throws BaxError `invalid_request` that names the field. */
function read(text: string): LiveInput {
  if (text.length > limits.live.messageChars) throw new BaxError('payload_too_large', 'the message is too long')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new BaxError('invalid_json', 'the message is not JSON', { cause })
  }
  const parsed = liveInput.safeParse(value)
  if (parsed.success) return parsed.data
  const faults = faultsOf(parsed.error)
  throw new BaxError('invalid_request', faults.map(sentenceOf).join('; '), { details: faults })
}

/** One live view: shows a session over a WebSocket, and lets a viewer with control drive it. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { HandoffOutcome } from '../../../core/access/handoffs.ts'
import type { SessionEvent } from '../../../core/events/events.ts'
import { limits } from '../../../core/limits/limits.ts'
import { closeCodes, type Link } from '../../../core/net/link.ts'
import { retryTransient } from '../../../core/errors/transient-errors.ts'
import {
  type LiveDialog,
  type LiveHandoff,
  type LiveInput,
  type LiveMessage,
  type LiveViewLink,
} from '../../../core/shapes/live-view.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { titleOf } from '../page/internals.ts'
import { navigateAway } from '../page/hung-script.ts'
import { toBaxError } from '../page/playwright-errors.ts'
import { watchRecordings } from '../script-recorder/recordings.ts'
import { castOf, type ScreencastFrame } from './screencast.ts'
import { type BaseUrls, urlsOf } from '../links/session-urls.ts'
import type { LiveSession } from '../ports/session.ts'
import { privacyOf } from '../privacy/privacy.ts'
import { secretsOf } from '../credentials/session-secrets.ts'
import { tabIdOf } from '../tabs/tab-ids.ts'
import type { Grant } from '../links/frame-tokens.ts'
import { type ControlLock, controlLockOf, type Person } from './control-lock.ts'
import type { Handoff } from './handoff.ts'
import { handoffsIn } from './handoffs.ts'
import { parseInput } from './input.ts'
import { PersonInput } from './person-input.ts'
import { liveRecordingOf, recordLive } from './record.ts'

/** Events after which the list of tabs may have changed. */
const changesTabs: ReadonlySet<string> = new Set([
  'tab.opened',
  'tab.closed',
  'tab.activated',
  'page.navigated',
  'page.loaded',
])

class Viewer implements Person {
  readonly #session: LiveSession
  readonly #link: Link
  readonly #grant: Grant
  readonly #control: ControlLock
  /** Opens the view of a handoff again. */
  readonly #token: string | undefined
  readonly #gone = new AbortController()
  readonly gone = this.#gone.signal
  readonly #input: PersonInput
  #latest: ScreencastFrame | undefined
  #sending = false
  #frameSize = ''
  #isListing = false
  #listAgain = false
  #second = 0
  #received = 0

  constructor(session: LiveSession, link: Link, grant: Grant, token?: string) {
    this.#token = token
    this.#session = session
    this.#link = link
    this.#grant = grant
    this.#control = controlLockOf(session)
    this.#input = new PersonInput(session, this)
  }

  /** Shows the session until the connection or the session ends. */
  start(): void {
    const { events, sessionId, name, ended } = this.#session
    this.#link.handle({
      onText: (text) => void this.#receive(text),
      onBytes: () => this.#link.close(closeCodes.protocol, 'a live view accepts only text messages'),
      onClose: () => this.#gone.abort(),
    })
    const { control: may_control } = this.#grant
    const { viewport } = this.#session
    const again = this.#token === undefined ? {} : { token: this.#token }
    this.#send({ type: 'hello', session_id: sessionId, name, may_control, viewport, ...again })
    this.#sendHandoff()
    this.#control.watch(this)
    this.onControl()
    for (const event of events.since(Math.max(0, events.lastSeq - limits.live.events))) this.#show(event)
    this.#sendRecording()
    const stop = [
      events.listen((event) => this.#show(event)),
      watchRecordings(this.#session, () => this.#sendRecording()),
      handoffsIn(this.#session).watch(() => this.#sendHandoff()),
      privacyOf(this.#session.browserContext).onEnd(() => this.#sendTabs()),
      castOf(this.#session).watch(
        (picture) => this.#sendFrame(picture),
        () => this.#control.holder === this || !privacyOf(this.#session.browserContext).active,
      ),
    ]
    const onEnded = () => this.#link.close(closeCodes.browserGone, 'the session has ended')
    ended.addEventListener('abort', onEnded, { once: true })
    this.#gone.signal.addEventListener('abort', () => {
      for (const unsubscribe of stop) unsubscribe()
      ended.removeEventListener('abort', onEnded)
    })
  }

  onControl(): void {
    const { holder, waiting } = this.#control
    const who = holder === undefined ? 'nobody' : holder === this ? 'you' : 'another'
    this.#send({ type: 'control', holder: who, waiting: waiting === this })
    this.#sendTabs()
  }

  onDialog(dialog: LiveDialog | null): void {
    this.#send({ type: 'dialog', dialog })
  }

  #send(message: LiveMessage): void {
    if (this.#link.buffered > limits.live.waitingBytes) {
      this.#link.close(closeCodes.slow, 'the view does not keep up')
      this.#gone.abort()
    } else this.#link.sendText(JSON.stringify(message))
  }

  #show(event: SessionEvent): void {
    this.#send({ type: 'event', event })
    if (changesTabs.has(event.type)) this.#sendTabs()
  }

  /** Sends the list of tabs, and again afterwards if it changed meanwhile. */
  #sendTabs(): void {
    this.#listAgain = this.#isListing
    if (this.#isListing || this.#gone.signal.aborted) return
    this.#isListing = true
    void this.#tabs().then((tabs) => {
      this.#isListing = false
      this.#send({ type: 'tabs', tabs })
      if (this.#listAgain) this.#sendTabs()
    })
  }

  /** Shows what the person is asked to do; closes a view whose handoff has ended. */
  #sendHandoff(): void {
    if (!this.#grant.control) return
    const { current } = handoffsIn(this.#session)
    const { handoff: own } = this.#grant
    if (own !== undefined && own !== current?.id) {
      const { outcome } = handoffsIn(this.#session).find(own)
      return this.#link.close(closeCodes.done, outcome === undefined ? '' : farewells[outcome])
    }
    this.#send({ type: 'handoff', handoff: current ? shownHandoff(current.record) : null })
  }

  #sendRecording(script?: string): void {
    this.#send({ type: 'recording', ...liveRecordingOf(this.#session), ...(script !== undefined && { script }) })
  }

  async #tabs() {
    await this.#session.opened
    const { pages, activePage } = this.#session
    return Promise.all(
      pages.map(async (page) => {
        // A page that hangs or closes is listed without its title.
        const title = await withDeadline(titleOf(page), { ms: limits.session.titleMs }).catch(() => '')
        const shown = { url: this.#shown(page.url()), title: this.#shown(title) }
        return { tab_id: tabIdOf(page), ...shown, active: page === activePage }
      }),
    )
  }

  /** Returns a text of a page without credentials; during a handoff only the person in control sees it. */
  #shown(text: string): string {
    const { browserContext } = this.#session
    const seen = this.#control.holder === this ? text : privacyOf(browserContext).shown(text)
    return secretsOf(browserContext).hide(seen)
  }

  /** Sends a frame; a slow connection gets only the newest one. */
  #sendFrame(picture: ScreencastFrame): void {
    this.#latest = picture
    if (this.#sending) return
    this.#sending = true
    this.#latest = undefined
    const { width, height, data } = picture
    const frameSize = `${width}x${height}`
    if (frameSize !== this.#frameSize) this.#send({ type: 'stage', width, height })
    this.#frameSize = frameSize
    this.#link.sendBytes(Buffer.from(data, 'base64'), () => {
      this.#sending = false
      if (this.#latest) this.#sendFrame(this.#latest)
    })
  }

  async #receive(text: string): Promise<void> {
    if (this.#isFlooding()) return this.#link.close(closeCodes.protocol, 'too many messages per second')
    try {
      await this.#act(parseInput(text))
    } catch (thrown) {
      const error = toBaxError(thrown, 'the live view')
      this.#send({ type: 'error', error: error.message, code: error.code })
    }
  }

  #isFlooding(): boolean {
    const second = Math.floor(performance.now() / 1000)
    if (second !== this.#second) this.#received = 0
    this.#second = second
    this.#received += 1
    return this.#received > limits.live.messagesPerSec
  }

  async #act(input: LiveInput): Promise<void> {
    if (!this.#grant.control) {
      throw new BaxError('unauthorized', 'this token allows only watching', {
        hint: 'create one with "bax session view --control"',
      })
    }
    if (input.type === 'done') return this.#input.afterInput(() => this.#handoff().finish('returned'))
    if (input.type === 'decline')
      return this.#input.afterInput(() => this.#handoff().finish('declined', input.message || null))
    if (input.type === 'take') return this.#control.take(this)
    if (input.type === 'return') return this.#input.afterInput(() => this.#control.release(this))
    if (input.type === 'record') {
      this.#control.use(this)
      return this.#sendRecording(await recordLive(this.#session, input.on))
    }
    await this.#input.take(input)
    if (input.type === 'dialog') this.#control.answerDialog(input)
    else if (input.type === 'navigate' || input.type === 'history') {
      await this.#go(input).catch((error: unknown) => {
        this.#control.steps?.forgetLast()
        throw error
      })
    }
  }

  /** Returns the handoff of the session. @throws BaxError `conflict` */
  #handoff(): Handoff {
    const { current } = handoffsIn(this.#session)
    if (!current) throw new BaxError('conflict', 'nobody waits for a person any more')
    return current
  }

  async #go(input: Extract<LiveInput, { type: 'navigate' | 'history' }>): Promise<void> {
    const url = input.type === 'navigate' ? this.#session.checkUrl(input.url) : undefined
    const limit = { timeout: limits.command.navigationMs, waitUntil: 'commit' as const }
    const current = await this.#session.page()
    if (url !== undefined) await this.#session.approvals?.askForUrl('navigate_to', url, current, this.gone)
    await navigateAway(current, async (page) => {
      if (url !== undefined) await retryTransient(() => page.goto(url, limit))
      else if (input.type === 'history') await page[history[input.go]](limit)
    })
  }
}

/** Creates a URL of the live view. @throws BaxError `unsupported` when nothing serves it, `rate_limited`. */
export function linkLiveView(session: LiveSession, control: boolean, bases: BaseUrls): LiveViewLink {
  const url = urlsOf(session, bases).live_view_url
  if (url === null) {
    throw new BaxError('unsupported', 'an embedded engine serves no live view', {
      hint: 'run the command without --embedded',
    })
  }
  const token = session.tokens.add({ control, cdp: false })
  return { live_view_url: `${url}?token=${token}`, token, control }
}

/** Opens the live view; callers without a token have a key, which allows control. @throws BaxError `rate_limited`. */
export function openLiveView(session: LiveSession, token: string | null): (link: Link) => void {
  const grant = token === null ? { control: true, cdp: true } : session.tokens.grantOf(token)!
  if (token !== null) session.tokens.assertRoom()
  return (link) => {
    const again = grant.handoff === undefined ? undefined : handoffsIn(session).find(grant.handoff).redeem(token!)
    if (grant.handoff !== undefined && again === undefined) return link.close(closeCodes.expired, used)
    const viewer = new Viewer(session, link, grant, again)
    viewer.start()
    if (token !== null) session.tokens.count(link, viewer.gone)
  }
}

const thanks = 'Thank you. You can close this page.'
const farewells: Record<HandoffOutcome, string> = {
  returned: thanks,
  met: thanks,
  declined: 'Your answer was passed on. You can close this page.',
  expired: 'The time for this is over. You can close this page.',
  withdrawn: 'This is no longer needed. You can close this page.',
}
const used = 'This link was opened before, and works once. Ask for a new one.'

const shownHandoff = ({ handoff_id, reason, expires_at }: LiveHandoff): LiveHandoff => ({
  handoff_id,
  reason,
  expires_at,
})

const history = { back: 'goBack', forward: 'goForward', reload: 'reload' } as const

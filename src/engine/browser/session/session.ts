/** One live browser session. */
import { setMaxListeners } from 'node:events'
import { rm } from 'node:fs/promises'
import type { BrowserContext, Page } from 'playwright'
import type { Caller } from '../../../core/access/caller.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { EventLog } from '../../../core/events/events.ts'
import { newId } from '../../../core/ids.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { SessionInput, SessionRecord } from '../../../core/shapes/session.ts'
import { openableUrl } from '../../../core/net/urls.ts'
import type { FilesToUpload } from '../../../core/operation/files-to-upload.ts'
import type { FileSource } from '../../../core/shapes/session-files.ts'
import { type BaseUrls, type SessionSketch, urlsOf, urlsOfEnded } from '../links/session-urls.ts'
import type { CdpChannel } from '../../cdp/router.ts'
import type { Recordable } from '../ports/batch-target.ts'
import type { EndReason, LiveSession } from '../ports/session.ts'
import type { ReplayLog } from '../ports/replay.ts'
import type { PrivatePage, SessionHost } from '../ports/session-host.ts'
import { rethrow } from '../page/playwright-errors.ts'
import { type Clipboard, clipboardOf } from '../clipboard/clipboard.ts'
import { type Approvals, approvalsFor } from '../approvals/approvals.ts'
import { Dialogs } from '../tabs/dialogs.ts'
import type { DownloadWatch } from '../tabs/download-watch.ts'
import { keepDownloads } from '../tabs/downloads.ts'
import { emulatedUserAgent } from '../emulation/emulation.ts'
import { Journal } from '../journal/journal.ts'
import { FileStore } from '../files/file-store.ts'
import { clientUpload, filesToUpload, saveFile } from '../files/session-files.ts'
import { endedError, isBrowserLoss } from './end-reasons.ts'
import { Lifetime } from './lifetime.ts'
import type { SessionFacts } from './session-facts.ts'
import { FrameTokens } from '../links/frame-tokens.ts'
import { controlLockOf } from '../live/control-lock.ts'
import { recordPageEvents } from '../tabs/page-events.ts'
import { privacyOf } from '../privacy/privacy.ts'
import { Tabs } from '../tabs/tabs.ts'
import { secretsOf } from '../credentials/session-secrets.ts'
import { CommandQueue } from './command-queue.ts'

export class Session implements LiveSession {
  readonly sessionId = newId('ses')
  readonly name: string | null
  readonly owner: string | null
  readonly input: SessionInput
  readonly viewport: { width: number; height: number }
  readonly browserContext: BrowserContext
  readonly servesCdp: boolean
  readonly events = new EventLog()
  readonly dialogs: Dialogs
  readonly approvals: Approvals | undefined
  readonly files: FileStore
  readonly downloads: DownloadWatch
  readonly recordable: Recordable = this
  readonly queue = new CommandQueue()
  readonly journal = new Journal()
  readonly credentialOf = (name: string) => this.#facts.credentials.use(name, { keyId: this.owner })
  readonly credential = async (name: string, caller: Caller | undefined) => {
    if (caller?.keyId === this.owner) return this.credentialOf(name)
    throw new BaxError('permission_denied', `the credential ${name} is for the key that created the session`, {
      hint: 'create your own session, and add the credential with your key',
    })
  }
  readonly pointer = { x: 0, y: 0 }
  replay: ReplayLog | undefined
  readonly createdAt = new Date()
  readonly expiresAt: Date
  readonly tokens = new FrameTokens()
  readonly #facts: SessionFacts
  readonly #tabs: Tabs
  readonly #lifetime: Lifetime
  readonly #ended = new AbortController()
  readonly ended = this.#ended.signal
  readonly opened: Promise<void>
  #lastActivityAt = this.createdAt
  #commandsRun = 0
  #endedAt: Date | null = null
  #endReason: EndReason | null = null
  #ending: Promise<void> | undefined

  constructor(facts: SessionFacts) {
    const { owner, input, host, viewport } = facts
    this.#facts = facts
    this.owner = owner
    this.input = input
    this.viewport = { ...viewport }
    this.browserContext = host.context
    // CDP clients can perform every action that a person has to approve.
    this.servesCdp = host.openCdp !== undefined && !input.confirm
    this.expiresAt = new Date(this.createdAt.getTime() + input.timeout_secs * 1000)
    this.name = input.requested_name ?? null
    // Every open stream, viewer and batch listens.
    setMaxListeners(0, this.#ended.signal)
    this.events.screen = privacyOf(host.context).screen
    recordPageEvents(host.context, this.events)
    this.dialogs = new Dialogs({
      context: host.context,
      events: this.events,
      setting: () => input.dialogs,
      outsider: 'client',
    })
    this.approvals = approvalsFor(this)
    facts.allowed?.onBlocked((host, port) => this.events.emit('network.blocked', { host, port }))
    this.files = new FileStore(host.downloads, facts.downloadBytes)
    const keep = (source: Pick<SessionHost, 'context' | 'transfers'>) =>
      keepDownloads(source, this.events, this.files, { showsPaths: facts.writeAnywhere, approvals: this.approvals })
    this.downloads = keep(host)
    host.clientContexts?.onOpened(keep)
    this.#tabs = new Tabs(host, this.events, this.viewport)
    this.opened = this.#tabs.opened
    this.#lifetime = new Lifetime({
      idleSecs: input.keep_alive ? 0 : input.idle_timeout_secs,
      totalSecs: input.timeout_secs,
      onExpiring: (reason, ms) => this.events.emit('session.expiring', { reason, expires_in_ms: Math.round(ms) }),
      onEnd: (reason) => this.endLater(reason),
    })
    this.events.emit('session.status', { status: 'ready' })
    this.#lifetime.start()
  }

  get crashed(): boolean {
    return this.#tabs.crashed
  }

  get responsive(): boolean {
    return this.#facts.host.isResponsive?.() ?? true
  }

  get endReason(): EndReason | null {
    return this.#endReason
  }

  get endedAt(): Date | null {
    return this.#endedAt
  }

  page(): Promise<Page> {
    return this.#tabs.active()
  }

  recover(): Promise<BaxError | undefined> {
    return this.#tabs.recover()
  }

  async openCdp(): Promise<CdpChannel> {
    const { openCdp } = this.#facts.host
    if (openCdp) return openCdp({ upload: (path) => clientUpload(this.#reach, path) })
    throw new BaxError('unsupported', 'CDP is not served for a session with cdp_url', {
      hint: 'connect to the browser at its cdp_url',
    })
  }

  /** Opens a page outside of the session, for the engine's own work. @throws BaxError `unsupported` on remote browsers. */
  async openPrivatePage(): Promise<PrivatePage> {
    const { openPrivatePage } = this.#facts.host
    if (openPrivatePage) return openPrivatePage()
    throw new BaxError('unsupported', 'video cannot be recorded in a session with cdp_url')
  }

  openBackgroundTab(): Promise<Page> {
    return this.#tabs.openBackgroundTab()
  }

  get activePage(): Page | undefined {
    return this.#tabs.activePage
  }

  activate(page: Page): Promise<void> {
    return this.#tabs.activate(page)
  }

  get pages(): readonly Page[] {
    return this.#tabs.pages
  }

  /** Waits for the title of the active tab, but not for a page that hangs. */
  async learnTitle(): Promise<void> {
    await this.#tabs.title(limits.session.titleMs)
  }

  clipboard(): Clipboard {
    if (!this.input.disable_automation_detection) return clipboardOf(this.browserContext)
    throw new BaxError('unsupported', 'pages do not use the clipboard of a session with disable_automation_detection')
  }

  checkUrl(text: string): string {
    const url = openableUrl(text)
    this.#facts.allowed?.checkUrl(new URL(url))
    return url
  }

  save(path: string, bytes: Uint8Array, source: FileSource): Promise<string> {
    return saveFile(this.#reach, path, bytes, source)
  }

  upload(names: readonly string[]): FilesToUpload {
    return filesToUpload(this.#reach, names)
  }

  get #reach() {
    return { writeAnywhere: this.#facts.writeAnywhere, files: this.files }
  }

  use<T>(work: () => Promise<T>): Promise<T> {
    const release = this.hold()
    const done = this.opened.then(work).catch((error: unknown) => rethrow(error, this))
    return done.finally(release)
  }

  hold(): () => void {
    const release = this.#lifetime.hold()
    this.#lastActivityAt = new Date()
    return () => {
      this.#lastActivityAt = new Date()
      release()
    }
  }

  countCommands(count: number): void {
    this.#commandsRun += count
  }

  end(reason: EndReason): Promise<void> {
    return (this.#ending ??= this.#end(reason))
  }

  endLater(reason: EndReason): void {
    this.end(reason).catch((error: Error) => {
      const facts = { session: this.sessionId, error: error.message }
      this.#facts.log('error', 'could not clean up after a session', facts)
    })
  }

  async record(bases: BaseUrls): Promise<SessionRecord> {
    const sketch = this.sketch()
    if (this.#endedAt !== null) return { ...sketch, ...urlsOfEnded(this.sessionId, bases) }
    return { ...sketch, title: this.#shown(await this.#tabs.title()), ...urlsOf(this, bases) }
  }

  sketch(): SessionSketch {
    const { input, host, workerId, warnings } = this.#facts
    const live = this.#endedAt === null
    const failed = this.#endReason !== null && isBrowserLoss(this.#endReason)
    return {
      session_id: this.sessionId,
      status: live ? 'ready' : failed ? 'failed' : 'stopped',
      name: this.name,
      url: this.#shown(this.#tabs.url),
      title: this.#shown(this.#tabs.lastTitle),
      headless: host.headless,
      user_agent: emulatedUserAgent(this.browserContext) ?? host.userAgent,
      viewport: { ...this.viewport },
      profile_id: input.profile_id ?? null,
      dialogs: input.dialogs,
      ...(input.allowed_domains && { allowed_domains: input.allowed_domains }),
      ...(input.skip_tls_verification && { skip_tls_verification: true }),
      ...this.approvals?.facts,
      tabs: live ? this.#tabs.count : 0,
      worker_id: workerId,
      tags: input.tags ?? {},
      created_at: this.createdAt.toISOString(),
      last_activity_at: this.#lastActivityAt.toISOString(),
      expires_at: this.expiresAt.toISOString(),
      idle_timeout_secs: input.keep_alive ? 0 : input.idle_timeout_secs,
      timeout_secs: input.timeout_secs,
      commands_run: this.#commandsRun,
      controlled_by_person: live && controlLockOf(this).holder !== undefined,
      ended_at: this.#endedAt?.toISOString() ?? null,
      end_reason: this.#endReason,
      ...(warnings.length > 0 && { warning: warnings.join('; ') }),
    }
  }

  /** Returns a text of the page without credentials and what a person does during a handoff. */
  #shown(text: string): string {
    return secretsOf(this.browserContext).hide(privacyOf(this.browserContext).shown(text))
  }

  async #end(reason: EndReason): Promise<void> {
    const { host, beforeClose, onEnded, onGone } = this.#facts
    this.#endReason = reason
    this.#endedAt = new Date()
    this.#lifetime.stop()
    this.#ended.abort(endedError(this.sessionId, reason))
    onEnded(this)
    try {
      await this.#tabs.freeze()
      if (!isBrowserLoss(reason)) await beforeClose(this)
    } finally {
      await host.close()
      host.free()
      await rm(host.downloads, { recursive: true, force: true })
      this.events.emit('session.status', { status: isBrowserLoss(reason) ? 'failed' : 'stopped' })
      this.events.emit('session.closed', { reason })
      onGone(this)
    }
  }
}

/** Opens a session from a plan, on a slot of the pool or on a remote browser. */
import type { Caller } from '../../../core/access/caller.ts'
import type { Quota } from '../../../core/access/quota.ts'
import type { EngineConfig } from '../../../core/config/config.ts'
import { browserErrorOf } from '../../../core/errors/browser-errors.ts'
import { withSessionTlsHint } from '../../../core/errors/certificates.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { newId } from '../../../core/ids.ts'
import { openUrl } from '../../../commands/session/open-url.ts'
import type { Egress } from '../../egress/egress.ts'
import { holdSubmissions } from '../approvals/held-submissions.ts'
import { hasWindows } from '../pool/flags.ts'
import { watchFailures, withReason } from '../page/net-reason.ts'
import type { OpenedSession } from '../ports/session.ts'
import type { SessionHost } from '../ports/session-host.ts'
import type { SessionPlan } from './plan.ts'
import type { Provisioning } from './provision.ts'
import { toBaxError } from '../page/playwright-errors.ts'
import type { Slot } from '../pool/slots.ts'
import { openRemote } from './remote.ts'
import { type BrowserWorker, type OpenContext, opened } from '../pool/worker.ts'
import { bindUntil } from '../../bound.ts'
import type { SessionCreated } from '../../../core/shapes/session.ts'
import { type BaseUrls, urlsOf } from '../links/session-urls.ts'
import { Session } from '../session/session.ts'
import type { SessionFacts } from '../session/session-facts.ts'
import { downloadFolder } from '../files/session-files.ts'

/** Returns the response to the creation of a session. */
export const createdRecord = ({ session, frameToken, warning }: OpenedSession, bases: BaseUrls): SessionCreated => ({
  status: 'ready',
  session_id: session.sessionId,
  frame_token: frameToken,
  name: session.name,
  created_at: session.createdAt.toISOString(),
  expires_at: session.expiresAt.toISOString(),
  ...urlsOf(session, bases),
  ...(warning && { warning }),
})

export interface OpeningTools extends Pick<SessionFacts, 'credentials' | 'beforeClose' | 'onEnded' | 'onGone'> {
  readonly config: EngineConfig
  readonly egress: Egress
  readonly onOpened: (session: Session) => void
  /** Slot that a gateway reserved for the session. */
  readonly reservation?: string | undefined
}

/** Opens a context on the slot's browser; frees the slot when that fails. */
export async function openOnSlot(plan: SessionPlan, slot: Slot, tools: OpeningTools): Promise<OpenedSession> {
  try {
    const worker = await slot.worker
    const context = await openContext(plan, worker, tools.egress)
    const host: SessionHost = {
      ...context,
      openCdp: (client) => context.openCdp({ ...client, claimBrowser: slot.claim }),
      isResponsive: () => worker.health.responsive,
      memoryExcess: () => worker.sharing?.memoryExcess(),
      openPrivatePage: async () => {
        const { page, close } = await opened(await worker.open())
        return { page: await page, close }
      },
      workerId: worker.id,
      headless: !hasWindows(worker.kind),
      userAgent: plan.userAgent(worker),
      downloads: downloadFolder(worker.folder, newId('ses')),
      free: slot.free,
    }
    const session = await register(plan, host, tools)
    const onLost = () => session.endLater(worker.health.dead ? 'crashed' : 'worker_lost')
    worker.upstream.onClose(onLost, session.ended)
    return await openFirstPage(plan, session)
  } catch (error) {
    slot.free()
    throw creationError(error)
  }
}

/** Opens a context, through a proxy of its own if it has rules of its own, which closes with the context. */
async function openContext(plan: SessionPlan, worker: BrowserWorker, egress: Egress): Promise<OpenContext> {
  const { allowed } = plan
  const { proxy } = plan.input
  const route = proxy || allowed ? await egress.route({ proxy, allowed, from: plan.owner }) : undefined
  try {
    const opened = await worker.open(plan.contextOptions(worker, route?.proxy))
    opened.belongTo(plan.owner)
    watchFailures(opened.context, route?.failures ?? egress.failures)
    return { ...opened, close: () => opened.close().finally(() => route?.close()) }
  } catch (error) {
    await route?.close()
    throw error
  }
}

/** Opens a context on the browser behind the plan's `cdp_url`. */
export async function openOnRemote(plan: SessionPlan, tools: OpeningTools): Promise<OpenedSession> {
  const downloads = downloadFolder(tools.config.stateDir, newId('ses'))
  const host = await openRemote(plan, downloads, tools.egress)
  const session = await register(plan, host, tools)
  host.onLost((error) => {
    const message = error && `disconnected from the browser: ${error.message}`
    if (message) session.events.emit('error', { code: 'browser_failed', message })
    session.endLater('worker_lost')
  })
  return openFirstPage(plan, session)
}

async function register(
  plan: SessionPlan,
  host: SessionHost,
  { config, onOpened, reservation, ...hooks }: OpeningTools,
): Promise<Session> {
  const { owner, input, viewport, allowed, warnings } = plan
  const { writeAnywhere, log, downloadBytes = limits.session.downloadBytes } = config
  const workerId = config.workerId?.() ?? host.workerId
  const session = new Session({
    owner,
    input,
    viewport,
    allowed,
    warnings,
    host,
    workerId,
    writeAnywhere,
    downloadBytes,
    log,
    ...hooks,
  })
  if (input.replay) session.replay = (await import('../replay/recorder.ts')).recordReplay(session)
  onOpened(session)
  if (session.approvals?.confirms('submit')) await holdSubmissions(host.context, session.approvals)
  const { sessionId: id, name, ended } = session
  try {
    const kind = 'session'
    await bindUntil(config, { id, kind, owner, name }, { ended, keptMs: limits.session.tombstoneMs, reservation })
    return session
  } catch (error) {
    await session.end('deleted')
    throw error
  }
}

async function openFirstPage(plan: SessionPlan, session: Session): Promise<OpenedSession> {
  const frameToken = session.tokens.add({ control: false, cdp: true })
  const passkeyFailures = await restorePasskeys(plan, session)
  const startFailure = plan.startUrl === undefined ? undefined : await openStartUrl(session, plan.startUrl)
  const warning = [...plan.warnings, ...passkeyFailures, ...(startFailure ? [startFailure] : [])].join('; ')
  return { session, frameToken, ...(warning && { warning }) }
}

/** Uses the passkeys that the profile of a session names; returns warnings about credentials that cannot be used. */
async function restorePasskeys({ passkeys }: SessionPlan, session: Session): Promise<string[]> {
  if (passkeys.length === 0) return []
  if (session.approvals?.confirms('credential'))
    return [`the profile has passkeys, whose use needs an approval: use_passkey ${passkeys.join(', ')}`]
  const { usePasskeys } = await import('../credentials/passkeys.ts')
  const failures: string[] = []
  for (const name of passkeys) {
    try {
      await session.use(async () => {
        // The first tab.
        await session.page()
        await usePasskeys(session, await session.credentialOf(name))
      })
    } catch (error) {
      failures.push(`passkeys of the profile: ${toBaxError(error, 'using them').message}`)
    }
  }
  return failures
}

/**
 * Opens the start URL; returns a warning when that fails, since the session itself is usable, or when it waits for an
 * approval, which needs the ID of the session.
 */
async function openStartUrl(session: Session, url: string): Promise<string | undefined> {
  const opened = session
    .use(() => goToStart(session, url))
    .then(
      () => undefined,
      (thrown: unknown) => startFailure(session, thrown),
    )
  let release = () => {}
  const held = new Promise<string>((resolve) => {
    release = session.events.listen(({ type, data }) => {
      if (type === 'approval.requested')
        resolve(`start_url waits until a person approves ${String(data['kind'])} (${String(data['approval_id'])})`)
    })
  })
  return Promise.race([opened, held]).finally(release)
}

async function goToStart(session: Session, url: string): Promise<void> {
  const page = await session.page()
  await session.approvals?.askForUrl('start_url', url, page)
  await openUrl(page, url, { timeout: limits.command.navigationMs, signal: session.ended })
  // The next request must see the title of this page, however busy the machine is.
  await session.learnTitle()
}

function startFailure(session: Session, thrown: unknown): string {
  const error = withSessionTlsHint(toBaxError(withReason(thrown, session.activePage), 'opening it'))
  session.events.emit('error', { code: error.code, message: `start_url: ${error.message}` })
  return `start_url could not be opened: ${error.message}${error.hint === undefined ? '' : `; ${error.hint}`}`
}

/** Converts errors of Playwright about options that only the browser can validate. */
function creationError(error: unknown): unknown {
  if (error instanceof BaxError) return error
  const message = (error as Error).message
  const field =
    /Invalid (?:timezone|locale)/i.exec(message)?.[0].slice('Invalid '.length).toLowerCase() ??
    (/proxy/i.test(message) ? 'proxy' : undefined)
  if (field) {
    return new BaxError('invalid_request', `${field} is not accepted by the browser`, {
      cause: error,
      details: [{ path: field, message: 'is not accepted by the browser' }],
    })
  }
  if (browserErrorOf(message))
    return new BaxError('worker_lost', 'the browser ended while the session was being created', { cause: error })
  return error
}

/** Counts the session that `make` creates until its end. @throws BaxError `too_many_sessions` when the quota is used up. */
export async function withQuota(
  quota: Quota,
  caller: Caller,
  make: () => Promise<OpenedSession | Provisioning>,
): Promise<OpenedSession | Provisioning> {
  const release = quota.take(caller)
  const releaseAtEnd = ({ session: { ended } }: OpenedSession) => {
    if (ended.aborted) release()
    ended.addEventListener('abort', release, { once: true })
  }
  try {
    const created = await make()
    if ('provision' in created) created.session.then(releaseAtEnd, release)
    else releaseAtEnd(created)
    return created
  } catch (error) {
    release()
    throw error
  }
}

/** Makes a session from a plan, on a seat of the pool or on somebody else's browser. */
import type { EngineConfig } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { newId } from '../../../core/ids.ts'
import { retryPassing } from '../../../core/errors/transient-errors.ts'
import type { Egress } from '../../egress/egress.ts'
import { hasWindows } from '../pool/flags.ts'
import { watchFailures, withReason } from '../tabs/net-reason.ts'
import type { SessionPlan } from './plan.ts'
import { translated } from '../batch/playwright-errors.ts'
import type { Seat } from '../pool/pool.ts'
import { openRemote } from './remote.ts'
import type { BrowserWorker, Place } from '../pool/worker.ts'
import type { Ground } from './session-host.ts'
import { Session, type SessionFacts } from '../session/session.ts'
import { downloadFolder } from '../session/session-files.ts'

/** A session that is ready, with what its creator alone is told. */
export interface OpenedSession {
  readonly session: Session
  readonly frameToken: string
  readonly warning?: string
}

export interface OpeningTools {
  readonly config: EngineConfig
  readonly egress: Egress
  readonly beforeClose: SessionFacts['beforeClose']
  readonly onEnded: SessionFacts['onEnded']
  readonly onGone: SessionFacts['onGone']
  /** Makes the session known; from here on its end is seen to. */
  readonly onOpened: (session: Session) => void
}

/** Opens a context on the seat's browser; frees the seat when that fails. */
export async function openOnSeat(plan: SessionPlan, seat: Seat, tools: OpeningTools): Promise<OpenedSession> {
  try {
    const worker = await seat.worker
    const { place, close } = await openPlace(plan, worker, tools.egress)
    const ground: Ground = {
      context: place.context,
      pagesOpened: place.pagesOpened,
      transfers: place.transfers,
      openCdp: place.openCdp,
      answers: () => worker.health.responsive,
      workerId: worker.id,
      headless: !hasWindows(worker.kind),
      userAgent: plan.userAgent(worker),
      downloads: downloadFolder(worker.folder, newId('ses')),
      close,
      free: seat.free,
    }
    const session = settle(plan, ground, tools)
    const lost = () => session.endLater(worker.health.dead ? 'crashed' : 'worker_lost')
    worker.upstream.onClose(lost, session.ended)
    return await begin(plan, session)
  } catch (error) {
    seat.free()
    throw refused(error)
  }
}

/** A context of the right size; through the session's own proxy where it has one, which ends with the context. */
async function openPlace(plan: SessionPlan, worker: BrowserWorker, egress: Egress): Promise<Opened> {
  const chain = plan.input.proxy && (await egress.chain(plan.input.proxy))
  try {
    const place = await worker.open(plan.contextOptions(worker, chain?.proxy))
    watchFailures(place.context, egress.failures)
    await fit(place, plan)
    return { place, close: () => place.close().finally(() => chain?.close()) }
  } catch (error) {
    await chain?.close()
    throw error
  }
}

interface Opened {
  readonly place: Place
  close(): Promise<void>
}

/** Opens a context on the browser behind the plan's `cdp_url`. */
export async function openOnRemote(plan: SessionPlan, tools: OpeningTools): Promise<OpenedSession> {
  const downloads = downloadFolder(tools.config.stateDir, newId('ses'))
  const ground = await openRemote(plan, downloads, tools.egress)
  const session = settle(plan, ground, tools)
  ground.onLost((fault) => {
    if (fault)
      session.events.emit('error', { code: 'browser_failed', message: `the browser was left: ${fault.message}` })
    session.endLater('worker_lost')
  })
  return begin(plan, session)
}

function settle(
  plan: SessionPlan,
  ground: Ground,
  { config, beforeClose, onEnded, onGone, onOpened }: OpeningTools,
): Session {
  const { writeAnywhere, log, downloadBytes = limits.session.downloadBytes } = config
  const session = new Session({
    owner: plan.owner,
    input: plan.input,
    viewport: plan.viewport,
    ground,
    writeAnywhere,
    downloadBytes,
    beforeClose,
    onEnded,
    onGone,
    log,
  })
  onOpened(session)
  return session
}

async function begin(plan: SessionPlan, session: Session): Promise<OpenedSession> {
  const failed = plan.startUrl === undefined ? undefined : await start(session, plan.startUrl)
  const warning = [...plan.warnings, ...(failed ? [failed] : [])].join('; ')
  return { session, frameToken: session.takeFrameToken(), ...(warning && { warning }) }
}

/** A ready page has the default size. */
async function fit(place: Place, { viewport }: SessionPlan): Promise<void> {
  const size = place.page.viewportSize()
  if (size?.width === viewport.width && size.height === viewport.height) return
  try {
    await place.page.setViewportSize({ ...viewport })
  } catch (error) {
    await place.close()
    throw error
  }
}

/** What to warn of when the first page could not be opened: the session itself is fine. */
async function start(session: Session, url: string): Promise<string | undefined> {
  try {
    const page = await session.page()
    await session.use(() => retryPassing(() => page.goto(url, { timeout: limits.command.navigationMs })))
    // Who asks next is told the title of this page, however busy the machine is.
    await session.learnTitle()
    return undefined
  } catch (thrown) {
    const error = translated(withReason(thrown, session.pages.at(-1)), 'opening it')
    session.events.emit('error', { code: error.code, message: `start_url: ${error.message}` })
    return `start_url could not be opened: ${error.message}`
  }
}

/** Words of Playwright about wishes that only the browser could judge. */
function refused(error: unknown): unknown {
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
  if (/has been closed|Target closed|Browser closed/i.test(message)) {
    return new BaxError('worker_lost', 'the browser ended while the session was being made', { cause: error })
  }
  return error
}

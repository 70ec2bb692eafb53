/**
 * Playwright's own view of a page: its navigations and dialogs, which have no public API, its input and its protocol
 * session, whose API calls cost more than the messages. Actions outside of Playwright wait for the navigations that they
 * cause with the same code.
 */
import type { CDPSession, ElementHandle, Frame, Page } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { oncePer } from '../../../core/once-per.ts'
import { Unclear } from './unclear.ts'

interface Progress {
  readonly timeout: number
  log(): void
  setAllowConcurrentOrNestedRaces(): void
  race<T>(work: Promise<T> | readonly Promise<T>[]): Promise<T>
}

/** The part of a protocol session that is needed. */
export type Session = Pick<CDPSession, 'send' | 'on'>

interface ServerPage {
  readonly frameManager: {
    waitForSignalsCreatedBy<T>(progress: Progress, waits: boolean, action: () => Promise<T>): Promise<T>
  }
  readonly mouse: {
    move(progress: Progress, x: number, y: number): Promise<void>
    click(progress: Progress, x: number, y: number, how: ClickOptions): Promise<void>
  }
  readonly keyboard: {
    down(progress: Progress, key: string): Promise<void>
    up(progress: Progress, key: string): Promise<void>
  }
  readonly delegate?: { readonly _mainFrameSession?: { readonly _client?: Session; readonly _targetId?: string } }
  mainFrame(): {
    utilityContext(): Promise<{
      rawEvaluateJSON(expression: string): Promise<unknown>
      injectedScript(): Promise<{ readonly _objectId?: string }>
    }>
    pendingDocument(): object | undefined
    raceAgainstEvaluationStallingEvents<T>(work: () => Promise<T>): Promise<T>
  }
}

export interface ClickOptions {
  readonly button?: 'left' | 'middle' | 'right'
  readonly clickCount?: number
}

interface Connected<Server> {
  readonly _connection?: { toImpl?(object: unknown): Server | undefined }
}

const findServerPage = (page: Page) => (page as unknown as Connected<ServerPage>)._connection?.toImpl?.(page)

/** A world of a document, with the scripts that Playwright has loaded there. */
interface ServerContext {
  _injectedScriptPromise?: Promise<unknown> | undefined
  _utilityScriptPromise?: Promise<unknown> | undefined
}

interface ServerFrame {
  readonly _currentDocument?: object
  readonly _contextData?: ReadonlyMap<string, { readonly context: ServerContext | null }>
  readonly _firedLifecycleEvents?: ReadonlySet<string>
}

/** Returns Playwright's own frame; undefined when it is gone, or not accessible. */
export function serverFrame(frame: Frame): ServerFrame | undefined {
  try {
    return (frame as unknown as Connected<ServerFrame>)._connection?.toImpl?.(frame)
  } catch {
    // The page has been closed.
    return undefined
  }
}

/** Returns the identity of the document in a frame, which navigations within it keep; undefined when it is unknown. */
export const documentIn = (frame: Frame): object | undefined => serverFrame(frame)?._currentDocument

/** Returns whether the document in a frame is being parsed; false when it is unknown. */
export const isParsing = (frame: Frame): boolean =>
  serverFrame(frame)?._firedLifecycleEvents?.has('domcontentloaded') === false

/** @throws Unclear when the installed Playwright has no such API, or runs in another process. */
function serverPage(page: Page): ServerPage {
  const found = findServerPage(page)
  if (typeof found?.frameManager?.waitForSignalsCreatedBy !== 'function') throw new Unclear('no access to Playwright')
  return found
}

/**
 * Runs a function in Playwright's isolated world of the frame that holds an element, with which the page shares no
 * objects but the document. @throws BaxError `unsupported` where that world is not accessible
 */
export function inIsolatedWorld<Input, Output>(
  element: ElementHandle,
  work: (args: [unknown, Node, Input]) => Output,
  input: Input,
): Promise<Awaited<Output> | 'error:notconnected'> {
  type ServerElement = { evaluateInUtility?: (run: typeof work, input: Input) => ReturnType<typeof inIsolatedWorld> }
  const found = (element as unknown as Connected<ServerElement>)._connection?.toImpl?.(element)
  if (typeof found?.evaluateInUtility !== 'function')
    throw new BaxError('unsupported', 'this version of Playwright has no isolated world for credentials')
  return found.evaluateInUtility(work, input) as Promise<Awaited<Output> | 'error:notconnected'>
}

/** Returns a protocol session without Playwright's API around it; the session itself where there is none. */
export function innerSession(session: CDPSession): Pick<CDPSession, 'send' | 'on' | 'off'> {
  type ServerSession = { readonly _session?: Pick<CDPSession, 'send' | 'on' | 'off'> }
  try {
    const own = (session as unknown as Connected<ServerSession>)._connection?.toImpl?.(session)?._session
    return typeof own?.send === 'function' ? own : session
  } catch {
    // The page has been closed.
    return session
  }
}

/** Playwright's protocol session of a page, and the ID of its main frame. */
export interface OwnSession extends Session {
  readonly frameId: string
}

/** Returns Playwright's own session of a page; null when it is not accessible. */
export const ownSessionOf = oncePer((page: Page): OwnSession | null => {
  const { _client: client, _targetId: frameId } = findServerPage(page)?.delegate?._mainFrameSession ?? {}
  if (!client || frameId === undefined) return null
  const send = async (...call: Parameters<Session['send']>) => {
    try {
      return await client.send(...call)
    } catch (error) {
      const message = endings[(error as { type?: string }).type ?? '']
      throw message ? new Error(message, { cause: error }) : error
    }
  }
  return { frameId, send: send as Session['send'], on: client.on.bind(client) }
})

/** Playwright's own script in the main frame, which finds elements. Each call is sent at once, before all later ones. */
export interface Injected {
  /** Calls the text of a function with the script and an argument. @throws Error when the document goes away */
  call<Output>(work: string, input: unknown): Promise<Output>
  /** Like `call`, for a function that returns a node or null: returns the number of the node. */
  nodeOf(work: string, input: unknown): Promise<number | undefined>
}

/** Returns the script in the current document; undefined where it is not accessible. */
export async function injectedIn(page: Page): Promise<Injected | undefined> {
  const session = ownSessionOf(page)
  const world = session && (await serverPage(page).mainFrame().utilityContext())
  const objectId = (await world?.injectedScript?.())?._objectId
  if (!session || objectId === undefined) return undefined
  const send = async (work: string, input: unknown, returnByValue: boolean) => {
    const { exceptionDetails, result } = await session.send('Runtime.callFunctionOn', {
      objectId,
      functionDeclaration: `function (input) { return (${work})(this, input) }`,
      arguments: [{ value: input }],
      returnByValue,
    })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result
  }
  return {
    call: async (work, input) => (await send(work, input, true)).value,
    async nodeOf(work, input) {
      const { objectId: found } = await send(work, input, false)
      if (!found) return undefined
      const described = session.send('DOM.describeNode', { objectId: found })
      session.send('Runtime.releaseObject', { objectId: found }).catch(() => {})
      return (await described).node.backendNodeId
    },
  }
}

/** Messages of the API for a page that is gone. */
const endings: Readonly<Record<string, string>> = { closed: 'Target closed', crashed: 'Target crashed' }

/** Number of attempts to read a title from a document that is replaced meanwhile. */
const titleAttempts = 3

/**
 * Returns the title of the current document, also while a navigation waits for its response: `page.title()` returns
 * "Loading" and the new URL then. Empty while a dialog is open. Rejects for a closed or crashed page.
 */
export async function titleOf(page: Page): Promise<string> {
  const read = async () => {
    const world = await serverPage(page).mainFrame().utilityContext()
    return world.rawEvaluateJSON('document.title')
  }
  let failure: unknown
  for (let attempt = 1; attempt <= titleAttempts && !page.isClosed(); attempt++) {
    try {
      const title = await (isNavigating(page) ? titleInHistory(page) : unlessStalled(page, read))
      if (typeof title === 'string') return title
    } catch (error) {
      if (error instanceof Unclear) return page.evaluate(() => document.title)
      failure = error
    }
  }
  if (page.isClosed()) return page.title()
  // The event of the crash may arrive later than the errors that it causes.
  if (isCrash(failure)) throw new Error(endings['crashed'], { cause: failure })
  return ''
}

const isCrash = (error: unknown): boolean =>
  (error as { type?: string } | undefined)?.type === 'crashed' || /target crashed/i.test(String(error))

/** Returns the title of the current document from the browser: the document itself may not answer meanwhile. */
async function titleInHistory(page: Page): Promise<string | undefined> {
  const { entries, currentIndex } = (await ownSessionOf(page)?.send('Page.getNavigationHistory')) ?? {
    entries: [],
    currentIndex: 0,
  }
  // The current entry is the target of a step in the history that has only begun.
  const isCurrent = ({ url }: { url: string }) => url === page.url()
  return [...entries.slice(currentIndex, currentIndex + 1), ...entries].find(isCurrent)?.title ?? ''
}

/** Returns whether a navigation of the page has begun: Playwright waits for it before an action. */
export const isNavigating = (page: Page): boolean => pendingDocument(page) !== undefined

/** Returns what identifies the navigation of the page that has begun; undefined when none has, or it is not accessible. */
export const pendingDocument = (page: Page): object | undefined =>
  findServerPage(page)?.mainFrame().pendingDocument() ?? undefined

/** Runs an action and waits until the navigations that it causes are committed or cancelled, or `signal` is aborted. */
export const afterNavigations = <T>(page: Page, signal: AbortSignal, action: () => Promise<T>): Promise<T> =>
  serverPage(page).frameManager.waitForSignalsCreatedBy(progressUntil(signal), true, action)

/** Waits for an answer of the page, but rejects when a dialog or a navigation prevents it. */
export const unlessStalled = <T>(page: Page, work: () => Promise<T>): Promise<T> =>
  serverPage(page).mainFrame().raceAgainstEvaluationStallingEvents(work)

/** Like `page.mouse.click`. */
export const clickAt = (page: Page, { x, y }: Point, how: ClickOptions, signal: AbortSignal): Promise<void> =>
  serverPage(page).mouse.click(progressUntil(signal), x, y, how)

/** Like `page.mouse.move`. */
export const moveTo = (page: Page, { x, y }: Point, signal: AbortSignal): Promise<void> =>
  serverPage(page).mouse.move(progressUntil(signal), x, y)

/**
 * When a page may react to a key, for example move the focus, before it receives the next message: after each press and
 * release like with `page.keyboard`, after each press only, or never, since it does not listen to keys.
 */
export type Reacts = 'always' | 'to presses' | 'never'

/** Presses and releases keys like `page.keyboard`, and waits for the page where it may react. */
export async function pressAll(page: Page, names: readonly string[], reacts: Reacts, signal: AbortSignal) {
  const { keyboard } = serverPage(page)
  const progress = progressUntil(signal)
  const sent: Promise<void>[] = []
  const answered = async () => void (await Promise.all(sent.splice(0)))
  for (const name of names) {
    // Enter may submit the form.
    const reactsTo = name.length > 1 ? 'always' : reacts
    sent.push(keyboard.down(progress, name))
    if (reactsTo !== 'never') await answered()
    sent.push(keyboard.up(progress, name))
    if (reactsTo === 'always') await answered()
  }
  await answered()
}

interface Point {
  readonly x: number
  readonly y: number
}

function progressUntil(signal: AbortSignal): Progress {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
  // Rejections after the end are of no interest.
  aborted.catch(() => {})
  const race: Progress['race'] = (work) => Promise.race([work, aborted].flat())
  return { timeout: 0, log() {}, setAllowConcurrentOrNestedRaces() {}, race }
}

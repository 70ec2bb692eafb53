/**
 * Playwright's isolated world in the documents of a page, where a snapshot stores its references, hidden from the page.
 * Playwright has no public API to evaluate in it, so this module uses CDP.
 */
import { createHash } from 'node:crypto'
import type { CDPSession, Frame, Page } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { innerSession } from '../page/internals.ts'

/** One document's world. */
export interface World {
  /** Calls a function of a bundled page script. @throws WorldGone when the document was replaced meanwhile. */
  call<T>(script: string, name: string, input: unknown): Promise<T>
  readonly session: CDPSession
  readonly contextId: number
  /** ID that the browser has given to the frame. */
  readonly frame: string
}

/** Error for a world whose document was replaced. */
export class WorldGone extends BaxError {
  constructor() {
    super('navigation_aborted', 'the page navigated during the observation')
  }
}

const utility = /^__playwright_utility_world_/
const sessions = new WeakMap<Page | Frame, Promise<CDPSession | null>>()

const listed = new WeakMap<Page, readonly World[]>()

/** Returns the worlds of a page as last listed, which may be outdated; lists them on first use. */
export const knownWorlds = async (page: Page): Promise<readonly World[]> => listed.get(page) ?? listWorlds(page)

/** Lists the worlds of all documents of a page, the main frame's first, including frames with their own process. */
export async function listWorlds(page: Page): Promise<readonly World[]> {
  const own = await sessionOf(page)
  if (!own) throw new BaxError('target_closed', 'the page was closed')
  const worlds = await list(own)
  // Frames without a world here may have their own process.
  if (worlds.length < page.frames().length)
    worlds.push(...(await Promise.all(page.frames().slice(1).map(worldsOfFrame))).flat())
  listed.set(page, worlds)
  return worlds
}

/** Discards the listed worlds of a page. */
export const forgetWorlds = (page: Page): void => void listed.delete(page)

async function worldsOfFrame(frame: Frame): Promise<World[]> {
  const session = await sessionOf(frame)
  if (!session) return []
  return list(session).catch(() => {
    // The frame has moved to another process: open a new session next time.
    sessions.delete(frame)
    return []
  })
}

function sessionOf(target: Page | Frame): Promise<CDPSession | null> {
  let session = sessions.get(target)
  if (!session) {
    const context = 'context' in target ? target.context() : target.page().context()
    session = context.newCDPSession(target).catch((error: unknown) => {
      // Most frames share the process and session of their page; that may change.
      sessions.delete(target)
      if (/does not have a separate CDP session|closed|detached/i.test(String(error))) return null
      throw error
    })
    sessions.set(target, session)
  }
  return session
}

/** Returns the unique ID of the context in which the scripts of the page's main document run. */
export async function mainContextOf(page: Page): Promise<string> {
  const session = await sessionOf(page)
  const main = session && (await contextsOf(session)).find(({ isDefault, isMain }) => isDefault && isMain)
  if (!main) throw new BaxError('target_closed', 'the page was closed')
  return main.uniqueId
}

async function list(session: CDPSession): Promise<World[]> {
  const own = (await contextsOf(session)).filter(({ name }) => utility.test(name))
  return own.toSorted((a, b) => Number(b.isMain) - Number(a.isMain)).map(({ id, frame }) => world(session, id, frame))
}

interface Context {
  readonly id: number
  readonly uniqueId: string
  readonly name: string
  /** Whether the scripts of the document run in it. */
  readonly isDefault: boolean
  readonly isMain: boolean
  readonly frame: string
}

type Created = Pick<Context, 'id' | 'uniqueId' | 'name'> & {
  readonly auxData?: { readonly frameId?: string; readonly isDefault?: boolean }
}

/** Lists the contexts of all documents that a session reaches. */
async function contextsOf(session: CDPSession): Promise<Context[]> {
  const found: Created[] = []
  const add = ({ context }: { context: Created }) => void found.push(context)
  session.on('Runtime.executionContextCreated', add)
  try {
    const { frameTree } = await session.send('Page.getFrameTree')
    // Enabling lists the contexts; staying enabled would deliver, and retain, all console output of the page.
    await session.send('Runtime.enable')
    await session.send('Runtime.disable')
    return found.map(({ id, uniqueId, name, auxData }) => ({
      id,
      uniqueId,
      name,
      isDefault: auxData?.isDefault === true,
      isMain: auxData?.frameId === frameTree.frame.id,
      frame: auxData?.frameId ?? '',
    }))
  } finally {
    session.off('Runtime.executionContextCreated', add)
  }
}

/** Throws an error of a world, as `WorldGone` if its document was replaced. */
export function worldError(error: unknown): never {
  throw /Cannot find context|Could not find object|context was destroyed|navigated|closed/i.test(String(error))
    ? new WorldGone()
    : error
}

/** Places of the modules of page scripts in a world, by the script. */
const places = new Map<string, string>()

/** Returns the expression for a module, which stays in a world after its first call. */
function placeOf(script: string): string {
  let place = places.get(script)
  if (place === undefined) {
    const id = createHash('sha256').update(script).digest('base64url')
    places.set(script, (place = `globalThis[Symbol.for('bax.module.${id}')]`))
  }
  return place
}

function world(session: CDPSession, contextId: number, frame: string): World {
  const installed = new Set<string>()
  async function call<T>(script: string, name: string, input: unknown): Promise<T> {
    const place = placeOf(script)
    const isInstalled = installed.has(script)
    const module = isInstalled ? place : `${place} ??= (() => { ;${script}; return __bax_module })()`
    const answer = await innerSession(session)
      .send('Runtime.evaluate', {
        contextId,
        expression: `(async () => { const module = ${module}; return module && JSON.stringify(await module.${name}(${JSON.stringify(input)})) })()`,
        returnByValue: true,
        awaitPromise: true,
      })
      .catch(worldError)
    if (answer.exceptionDetails) {
      const { text, exception } = answer.exceptionDetails
      throw new BaxError('internal_error', `the observation failed in the page: ${exception?.description ?? text}`)
    }
    if (answer.result.value === undefined && isInstalled) {
      installed.delete(script)
      return call(script, name, input)
    }
    installed.add(script)
    return JSON.parse(answer.result.value as string) as T
  }
  return { session, contextId, frame, call }
}

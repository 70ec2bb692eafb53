/**
 * Playwright's own script world in the documents of a page. A snapshot leaves its references there, out of the page's
 * sight; no public call of Playwright evaluates in it, so this goes over the protocol.
 */
import type { CDPSession, Frame, Page } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'

/** One document's world. */
export interface World {
  /** Value of an expression. @throws WorldGone when the document was replaced meanwhile. */
  evaluate<T>(expression: string): Promise<T>
}

/** The document of a world is not there any more. */
export class WorldGone extends BaxError {
  constructor() {
    super('navigation_aborted', 'the page navigated while it was looked at')
  }
}

const utility = /^__playwright_utility_world_/
const sessions = new WeakMap<Page | Frame, Promise<CDPSession | null>>()

const listed = new WeakMap<Page, readonly World[]>()

/** The worlds of a page as they were listed last, or for the first time; a document may have been replaced since. */
export const knownWorlds = async (page: Page): Promise<readonly World[]> => listed.get(page) ?? listWorlds(page)

/** The worlds of all documents of a page, the main frame's first, frames with a process of their own included. */
export async function listWorlds(page: Page): Promise<readonly World[]> {
  const worlds = await findWorlds(page)
  listed.set(page, worlds)
  return worlds
}

/** Says that the listed worlds are not to be relied upon. */
export const forgetWorlds = (page: Page): void => void listed.delete(page)

async function findWorlds(page: Page): Promise<World[]> {
  const own = await sessionOf(page)
  if (!own) throw new BaxError('target_closed', 'the page was closed')
  const worlds = await list(own)
  // A frame that has no world here may run in a process of its own.
  if (worlds.length >= page.frames().length) return worlds
  const others = await Promise.all(page.frames().slice(1).map(worldsOfFrame))
  return [...worlds, ...others.flat()]
}

async function worldsOfFrame(frame: Frame): Promise<World[]> {
  const session = await sessionOf(frame)
  if (!session) return []
  return list(session).catch(() => {
    // The frame has moved to another process; its next session is found when it is asked for.
    sessions.delete(frame)
    return []
  })
}

function sessionOf(target: Page | Frame): Promise<CDPSession | null> {
  let session = sessions.get(target)
  if (!session) {
    const context = 'context' in target ? target.context() : target.page().context()
    session = context.newCDPSession(target).catch((error: unknown) => {
      // Most frames share the process of their page and have no session of their own; that may change.
      sessions.delete(target)
      if (/does not have a separate CDP session|closed|detached/i.test(String(error))) return null
      throw error
    })
    sessions.set(target, session)
  }
  return session
}

async function list(session: CDPSession): Promise<World[]> {
  const found: { id: number; frameId: string }[] = []
  const add = ({ context }: { context: { id: number; name: string; auxData?: { frameId?: string } } }) => {
    if (utility.test(context.name)) found.push({ id: context.id, frameId: context.auxData?.frameId ?? '' })
  }
  session.on('Runtime.executionContextCreated', add)
  try {
    const { frameTree } = await session.send('Page.getFrameTree')
    // Enabling lists what is there; staying enabled would deliver, and keep, everything that the page logs.
    await session.send('Runtime.enable')
    await session.send('Runtime.disable')
    const isMain = ({ frameId }: { frameId: string }) => (frameId === frameTree.frame.id ? 0 : 1)
    return found.toSorted((a, b) => isMain(a) - isMain(b)).map(({ id }) => world(session, id))
  } finally {
    session.off('Runtime.executionContextCreated', add)
  }
}

const world = (session: CDPSession, contextId: number): World => ({
  async evaluate<T>(expression: string): Promise<T> {
    const answer = await session
      .send('Runtime.evaluate', { contextId, expression, returnByValue: true, awaitPromise: true })
      .catch((error: unknown) => {
        throw /Cannot find context|context was destroyed|navigated|closed/i.test(String(error))
          ? new WorldGone()
          : error
      })
    if (answer.exceptionDetails) {
      const { text, exception } = answer.exceptionDetails
      throw new BaxError('internal_error', `the observation failed in the page: ${exception?.description ?? text}`)
    }
    return JSON.parse(answer.result.value as string) as T
  },
})

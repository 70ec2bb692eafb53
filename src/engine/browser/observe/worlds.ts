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
  /** Calls a function with nodes, by the IDs that the browser has given to them, and with these IDs; skips missing ones. */
  callWith(script: string, name: string, ids: readonly number[]): Promise<void>
  /** Calls a function that returns nodes, and describes them. */
  describe(script: string, name: string): Promise<DescribedNode[]>
  readonly session: CDPSession
  /** The outermost frame that the session reaches. */
  readonly root: Frame
  /** ID that the browser has given to the frame. */
  readonly frame: string
  /** Contexts of the page's own scripts: in this document, and in the documents of the frames in it. */
  readonly pageContexts: { readonly own: number | undefined; readonly inside: readonly number[] }
}

/** A node as the browser describes it, also with what pages do not show to scripts. */
type DescribedNode = Awaited<ReturnType<typeof describeNode>>['node']

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
  const worlds = await list(own, page.mainFrame())
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
  return list(session, frame).catch(() => {
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

async function list(session: CDPSession, root: Frame): Promise<World[]> {
  const all = await contextsOf(session)
  const own = all.filter(({ name }) => utility.test(name))
  const pages = all.filter(({ isDefault }) => isDefault)
  return own
    .toSorted((a, b) => Number(b.isMain) - Number(a.isMain))
    .map(({ id, frame }) => {
      const inside = pages.flatMap((page) => (page.parent === frame ? page.id : []))
      const pageContexts = { own: pages.find((page) => page.frame === frame)?.id, inside }
      return { session, root, frame, pageContexts, ...callsIn(session, id) }
    })
}

interface Context {
  readonly id: number
  readonly uniqueId: string
  readonly name: string
  /** Whether the scripts of the document run in it. */
  readonly isDefault: boolean
  readonly isMain: boolean
  readonly frame: string
  /** Frame around this one, in the same process. */
  readonly parent: string | undefined
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
    const { frameTree } = await frameTreeOf(session)
    // Enabling lists the contexts; staying enabled would deliver, and retain, all console output of the page.
    await session.send('Runtime.enable')
    await session.send('Runtime.disable')
    const parents = new Map(parentsIn(frameTree))
    return found.map(({ id, uniqueId, name, auxData }) => ({
      id,
      uniqueId,
      name,
      isDefault: auxData?.isDefault === true,
      isMain: auxData?.frameId === frameTree.frame.id,
      frame: auxData?.frameId ?? '',
      parent: parents.get(auxData?.frameId ?? ''),
    }))
  } finally {
    session.off('Runtime.executionContextCreated', add)
  }
}

type FrameTree = Awaited<ReturnType<typeof frameTreeOf>>['frameTree']

const frameTreeOf = (session: CDPSession) => session.send('Page.getFrameTree')

/** Returns the frames below the first, each with the frame around it. */
const parentsIn = ({ frame, childFrames = [] }: FrameTree): [frame: string, parent: string][] =>
  childFrames.flatMap((child) => [[child.frame.id, frame.id], ...parentsIn(child)])

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

/** Makes the name of a group for the objects that one call needs. */
const newGroup = () => `bax-nodes-${groups++}`
let groups = 0

const describeNode = (session: Pick<CDPSession, 'send'>, objectId: string) =>
  session.send('DOM.describeNode', { objectId, depth: 0 })

function callsIn(session: CDPSession, contextId: number): Pick<World, 'call' | 'callWith' | 'describe'> {
  const inner = innerSession(session)
  const installed = new Set<string>()
  /** Runs a call with the expression of a module, which is undefined where an installed one is gone. */
  async function withModule<T>(script: string, run: (module: string) => Promise<T | undefined>): Promise<T> {
    const place = placeOf(script)
    const isInstalled = installed.has(script)
    const answer = await run(isInstalled ? place : `(${place} ??= (() => { ;${script}; return __bax_module })())`)
    if (answer === undefined && isInstalled) {
      installed.delete(script)
      return withModule(script, run)
    }
    installed.add(script)
    return answer as T
  }
  async function call<T>(script: string, name: string, input: unknown): Promise<T> {
    const text = await withModule(script, async (module) => {
      const expression = `(async () => { const module = ${module}; return module && JSON.stringify(await module.${name}(${JSON.stringify(input)})) })()`
      const evaluated = inner.send('Runtime.evaluate', {
        contextId,
        expression,
        returnByValue: true,
        awaitPromise: true,
      })
      return valueOf(await evaluated.catch(worldError)) as string | undefined
    })
    return JSON.parse(text) as T
  }
  async function callWith(script: string, name: string, ids: readonly number[]): Promise<void> {
    const objectGroup = newGroup()
    const place = { executionContextId: contextId, objectGroup }
    const nodes = (await Promise.all(ids.map((id) => resolveNode(inner, id, place)))).flat()
    const input = JSON.stringify(nodes.map(({ id }) => id))
    await withModule(script, async (module) => {
      const called = inner.send('Runtime.callFunctionOn', {
        executionContextId: contextId,
        functionDeclaration: `(...nodes) => { const module = ${module}; module?.${name}(nodes, ${input}); return module && true }`,
        arguments: nodes.map(({ objectId }) => ({ objectId })),
        returnByValue: true,
      })
      return valueOf(await called.catch(worldError))
    })
    await inner.send('Runtime.releaseObjectGroup', { objectGroup }).catch(worldError)
  }
  async function describe(script: string, name: string): Promise<DescribedNode[]> {
    const objectGroup = newGroup()
    const objectId = await withModule(script, async (module) => {
      const expression = `${module}?.${name}()`
      const answer = await inner.send('Runtime.evaluate', { contextId, expression, objectGroup }).catch(worldError)
      valueOf(answer)
      return answer.result.objectId
    })
    const { result } = await inner.send('Runtime.getProperties', { objectId, ownProperties: true }).catch(worldError)
    const objects = result.flatMap(({ value }) => value?.objectId ?? [])
    const found = await Promise.all(objects.map((object) => describeNode(inner, object).catch(unlessMissing)))
    await inner.send('Runtime.releaseObjectGroup', { objectGroup }).catch(worldError)
    return found.flatMap((one) => one?.node ?? [])
  }
  return { call, callWith, describe }
}

/** Returns a node with the ID of its object in a context; none when the page has removed it meanwhile. */
async function resolveNode(
  session: Pick<CDPSession, 'send'>,
  id: number,
  place: { readonly executionContextId: number; readonly objectGroup: string },
): Promise<{ id: number; objectId: string }[]> {
  const node = await session.send('DOM.resolveNode', { backendNodeId: id, ...place }).catch(unlessMissing)
  const objectId = node?.object.objectId
  return objectId === undefined ? [] : [{ id, objectId }]
}

interface Evaluated {
  readonly result: { readonly value?: unknown }
  readonly exceptionDetails?: { readonly text: string; readonly exception?: { readonly description?: string } }
}

/** Returns the result of a call. @throws BaxError `internal_error` when the function has failed. */
function valueOf({ result, exceptionDetails }: Evaluated): unknown {
  if (!exceptionDetails) return result.value
  const { text, exception } = exceptionDetails
  throw new BaxError('internal_error', `the observation failed in the page: ${exception?.description ?? text}`)
}

/** Ignores a node that the page has removed meanwhile. */
function unlessMissing(error: unknown): undefined {
  if (!/No node|not found|Could not find|does not belong/i.test(String(error))) worldError(error)
}

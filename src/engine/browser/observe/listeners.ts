/**
 * Elements that scripts made clickable, and closed shadow roots: pages show neither to other scripts, but the browser
 * lists them. The isolated worlds of snapshots get them, and treat them like `onclick` and open shadow roots.
 */
import type { CDPSession } from 'playwright'
import elementsScript from './snapshot/elements.page.ts?inline'
import { documentIn, innerSession } from '../page/internals.ts'
import { type World, worldError } from './worlds.ts'

/** Events of clicks and drags. */
const clicks = new Set(
  'click dblclick dragstart mousedown mouseup pointerdown pointerup touchstart touchend'.split(' '),
)

interface Known {
  /** Identity of the outermost document: another process gives the same IDs to other elements. */
  readonly document: object | undefined
  readonly ids: ReadonlySet<number>
}

/** IDs that the browser has given to the elements with listeners which the worlds of a session know. */
const known = new WeakMap<CDPSession, Known>()

/** Returns the worlds of each session. */
function bySession(worlds: readonly World[]): [CDPSession, World[]][] {
  const sessions = new Set(worlds.map(({ session }) => session))
  return [...sessions].map((session) => [session, worlds.filter((world) => world.session === session)])
}

/** Gives worlds the elements with listeners that are new since the last call, and takes those without from them. */
export async function revealListeners(worlds: readonly World[]): Promise<void> {
  await Promise.all(
    bySession(worlds).map(async ([session, own]) => {
      const document = documentIn(own[0]!.root)
      const found = await listening(session, own)
      const now = new Set([...found.values()].flatMap((ids) => [...ids]))
      const last = known.get(session)
      const before = last?.document === document ? (last?.ids ?? new Set()) : new Set<number>()
      const gone = [...before].filter((id) => !now.has(id))
      if (gone.length > 0) await Promise.all(own.map((world) => world.call(elementsScript, 'forget', gone)))
      for (const [world, ids] of found) {
        const added = [...ids].filter((id) => !before.has(id))
        if (added.length > 0) await world.callWith(elementsScript, 'remember', added)
      }
      known.set(session, { document, ids: now })
    }),
  )
}

/** Gives worlds the closed shadow roots of the elements that may have one. */
export async function revealClosedRoots(worlds: readonly World[]): Promise<void> {
  await Promise.all(
    worlds.map(async (world) => {
      const hosts = await world.describe(elementsScript, 'possibleHosts')
      const roots = hosts.flatMap(({ shadowRoots = [] }) => shadowRoots)
      const closed = roots.filter(({ shadowRootType }) => shadowRootType === 'closed')
      const ids = closed.map(({ backendNodeId }) => backendNodeId)
      if (ids.length > 0) await world.callWith(elementsScript, 'openRoots', ids)
    }),
  )
}

/**
 * Lists the nodes with listeners in the documents of worlds. A node must not be passed to the world of another document:
 * its scripts would no longer know of which class the node is.
 */
async function listening(session: CDPSession, worlds: readonly World[]): Promise<Map<World, ReadonlySet<number>>> {
  const nodesIn = new Map<number, Promise<ReadonlySet<number>>>()
  const nodesFrom = (context: number) => {
    const asked = nodesIn.get(context) ?? listeningFrom(session, context)
    nodesIn.set(context, asked)
    return asked
  }
  const ofWorld = async ({ pageContexts: { own, inside } }: World) => {
    if (own === undefined) return new Set<number>()
    const [all, ...inner] = await Promise.all([own, ...inside].map(nodesFrom))
    const others = new Set(inner.flatMap((nodes) => [...nodes]))
    return new Set([...all!].filter((id) => !others.has(id)))
  }
  return new Map(await Promise.all(worlds.map(async (world) => [world, await ofWorld(world)] as const)))
}

/**
 * Lists the nodes with listeners in a document, and in all documents in it. Chromium 156 mixes up the objects of the
 * worlds when the document is that of an isolated one, and crashes: it must be the page's own.
 */
async function listeningFrom(session: CDPSession, contextId: number): Promise<ReadonlySet<number>> {
  const inner = innerSession(session)
  const { result } = await inner.send('Runtime.evaluate', { contextId, expression: 'document' }).catch(worldError)
  const objectId = result.objectId!
  const wanted = { objectId, depth: -1, pierce: true }
  const { listeners } = await inner.send('DOMDebugger.getEventListeners', wanted).catch(worldError)
  // The document may be gone.
  inner.send('Runtime.releaseObject', { objectId }).catch(() => {})
  return new Set(listeners.flatMap(({ type, backendNodeId }) => (clicks.has(type) ? (backendNodeId ?? []) : [])))
}

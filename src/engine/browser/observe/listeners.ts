/**
 * Elements that scripts made clickable, and closed shadow roots: pages show neither to other scripts, but the browser
 * lists them. The isolated worlds of snapshots get them, and treat them like `onclick` and open shadow roots.
 */
import type { CDPSession } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import type { Clickable } from './snapshot/listening.page.ts'
import elementsScript from './snapshot/elements.page.ts?inline'
import { innerSession } from '../page/internals.ts'
import { type World, worldError } from './worlds.ts'

/** Events of a click. */
const clicks = new Set(['click', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'touchstart', 'touchend'])
/** Elements that are controls anyway, or never one. */
const others = new Set('#document A BODY BUTTON HTML IFRAME INPUT OPTION SELECT SUMMARY TEXTAREA'.split(' '))

/** IDs that the browser has given to the elements with listeners which the worlds of a session know. */
const known = new WeakMap<CDPSession, ReadonlySet<number>>()

/** Returns the worlds of each session. */
function bySession(worlds: readonly World[]): [CDPSession, World[]][] {
  const sessions = new Set(worlds.map(({ session }) => session))
  return [...sessions].map((session) => [session, worlds.filter((world) => world.session === session)])
}

/** Gives worlds the elements with listeners that are new since the last call, and takes those without from them. */
export async function revealListeners(worlds: readonly World[]): Promise<void> {
  await Promise.all(
    bySession(worlds).map(async ([session, own]) => {
      const now = await listening(session)
      const before = known.get(session) ?? new Set()
      const gone = [...before].filter((id) => !now.has(id))
      if (gone.length > 0) await Promise.all(own.map((world) => world.call(elementsScript, 'forget', gone)))
      const added = new Set([...now].filter((id) => !before.has(id)))
      const seen = added.size > 0 ? await inspect(session, own, added) : []
      known.set(session, new Set([...seen, ...[...before].filter((id) => now.has(id))]))
    }),
  )
}

/** Gives worlds the closed shadow roots of their documents. */
export async function revealClosedRoots(worlds: readonly World[]): Promise<void> {
  await Promise.all(bySession(worlds).map(async ([session, own]) => inspect(session, own, new Set())))
}

/**
 * Lists the elements with listeners in the documents that a session reaches. Chromium 156 mixes up the objects of the
 * worlds when the document is that of an isolated one, and crashes: it must be the page's own.
 */
async function listening(session: CDPSession): Promise<ReadonlySet<number>> {
  const inner = innerSession(session)
  const { result } = await inner.send('Runtime.evaluate', { expression: 'document' }).catch(worldError)
  const objectId = result.objectId!
  const wanted = { objectId, depth: -1, pierce: true }
  const { listeners } = await inner.send('DOMDebugger.getEventListeners', wanted).catch(worldError)
  // The document may be gone.
  inner.send('Runtime.releaseObject', { objectId }).catch(() => {})
  return new Set(listeners.flatMap(({ type, backendNodeId }) => (clicks.has(type) ? (backendNodeId ?? []) : [])))
}

/**
 * Finds elements with these IDs, and what is in closed shadow roots, in the documents of a session. Returns the IDs in
 * documents whose world is known: others may have one at the next observation.
 */
async function inspect(session: CDPSession, worlds: readonly World[], ids: ReadonlySet<number>): Promise<number[]> {
  const { documents, strings } = await session.send('DOMSnapshot.captureSnapshot', { computedStyles: [] })
  const seen = await Promise.all(
    documents.map(async ({ frameId, nodes }) => {
      const world = worlds.find(({ frame }) => frame === strings[frameId])
      if (!world) return []
      const { backendNodeId = [], nodeName = [], nodeType = [], shadowRootType } = nodes
      const closed = new Set(shadowRootType?.index.filter((_, at) => strings[shadowRootType.value[at]!] === 'closed'))
      const found = backendNodeId.flatMap((id, at): Clickable[] => {
        const listens = ids.has(id) && !others.has(strings[nodeName[at]!]!)
        return nodeType[at] === elementNode && (listens || closed.has(at)) ? [{ id, listens }] : []
      })
      if (found.length > 0) await give(world, found)
      return backendNodeId.filter((id) => ids.has(id))
    }),
  )
  return seen.flat()
}

const elementNode = 1

/** Passes elements to the isolated world of their document. */
async function give({ session, contextId: executionContextId }: World, found: readonly Clickable[]): Promise<void> {
  const objectGroup = 'bax-clickable'
  const nodes = await Promise.all(
    found.map(({ id: backendNodeId }) =>
      session.send('DOM.resolveNode', { backendNodeId, executionContextId, objectGroup }).catch(goneNode),
    ),
  )
  const resolved = nodes.flatMap((node, at) =>
    node?.object.objectId ? [{ ...found[at]!, object: node.object.objectId }] : [],
  )
  const facts = resolved.map(({ id, listens }) => ({ id, listens }))
  const { exceptionDetails } = await session
    .send('Runtime.callFunctionOn', {
      executionContextId,
      functionDeclaration: `(...elements) => { ;${elementsScript}; __bax_module.remember(elements, ${JSON.stringify(facts)}) }`,
      arguments: resolved.map(({ object: objectId }) => ({ objectId })),
    })
    .catch(worldError)
  if (exceptionDetails)
    throw new BaxError(
      'internal_error',
      `the observation failed in the page: ${exceptionDetails.exception?.description}`,
    )
  await session.send('Runtime.releaseObjectGroup', { objectGroup })
}

/** Ignores an element that the page has removed meanwhile. */
function goneNode(error: unknown): undefined {
  if (!/No node|not found|Could not find|does not belong/i.test(String(error))) worldError(error)
}

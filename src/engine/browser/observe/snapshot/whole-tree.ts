/**
 * The accessibility tree of a whole page, by Playwright's own script in the page. Its API passes each field of a node as
 * an object with a name and a value: 20,000 elements would exceed the limit of a message.
 */
import type { Locator, Page } from 'playwright'
import { BaxError } from '../../../../core/errors/errors.ts'
import { limits } from '../../../../core/limits/limits.ts'
import type { CallLimit } from '../../../../core/operation/command.ts'
import { exceededLimit } from '../../../../core/operation/json-extent.ts'
import { injectedIn, unlessStalled } from '../../page/internals.ts'
import type { AriaNode, Children, Writable } from './aria.ts'

/** Element of the main document at which the tree begins. */
export type Top = 'body' | 'root'

interface Injected {
  ariaSnapshotJSON(
    element: Element,
    options: { mode: 'ai' },
  ): { json: Children; iframeRefs: string[]; iframeDepths: Record<string, number> }
}

/** The tree of the main document as JSON, and Playwright's references of the frames in it. */
interface MainTree {
  readonly json: string
  readonly frames: readonly string[]
}

/** Takes a snapshot of a page. @throws BaxError `content_too_large` */
export async function wholeTree(page: Page, top: Top, limit: CallLimit): Promise<Children> {
  const main = await mainTree(page, top)
  if (!main) return treeOf(top === 'root' ? page.locator(':root') : page, limit)
  if (exceededLimit(Buffer.from(main.json), { depth: Infinity, values: limits.cdp.messageValues })) throw treeTooLarge()
  const tree = JSON.parse(main.json) as Children
  const inside = await Promise.all(main.frames.map((ref) => treeOfFrame(page, ref, limit)))
  if (main.frames.length > 0) addFrames(tree, new Map(main.frames.map((ref, at) => [ref, inside[at]!])))
  return tree
}

/** Takes a snapshot with Playwright's API, also of an element. @throws BaxError `content_too_large` */
export async function treeOf(source: Page | Locator, limit: CallLimit): Promise<Children> {
  try {
    return await source.ariaSnapshotJSON({ mode: 'ai', ...limit })
  } catch (error) {
    throw /of more than \d+ values/.test(String(error)) ? treeTooLarge(error) : error
  }
}

/** Returns the tree of the main document; undefined when Playwright's script or the element is not accessible. */
async function mainTree(page: Page, top: Top): Promise<MainTree | undefined> {
  const injected = await injectedIn(page)
  const asked = injected && unlessStalled(page, () => injected.call<MainTree | null>(String(treeText), top))
  return (await asked) ?? undefined
}

/** Runs in the page. */
function treeText(injected: Injected, top: Top): MainTree | null {
  const element = document.querySelector(top === 'root' ? ':root' : 'body,frameset')
  if (!element) return null
  const { json, iframeRefs, iframeDepths } = injected.ariaSnapshotJSON(element, { mode: 'ai' })
  return { json: JSON.stringify(json), frames: iframeRefs.filter((ref) => ref in iframeDepths) }
}

/** Returns the tree of a frame; empty for one that goes away or does not answer, as in Playwright's own trees. */
async function treeOfFrame(page: Page, ref: string, limit: CallLimit): Promise<Children> {
  try {
    return await treeOf(page.locator(`aria-ref=${ref}`).contentFrame().locator('body,frameset'), limit)
  } catch (error) {
    if (error instanceof BaxError) throw error
    return []
  }
}

function addFrames(nodes: Children, inside: ReadonlyMap<string, Children>): void {
  for (const node of nodes) {
    if (typeof node === 'string') continue
    const children = node.role === 'iframe' ? inside.get(node.ref ?? '') : undefined
    if (children?.length) {
      const frame: Writable<AriaNode> = node
      delete frame.text
      frame.children = children
    } else if (node.children) addFrames(node.children, inside)
  }
}

export const treeTooLarge = (cause?: unknown): BaxError =>
  new BaxError('content_too_large', 'the page has too many elements to be observed at once', {
    cause,
    hint: 'observe a part of it, by a selector',
  })

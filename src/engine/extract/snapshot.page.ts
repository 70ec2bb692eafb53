/** Serializes a document; runs inside it. */
import { type FrameContent, treeFromPage, withAbsoluteUrls } from './live-tree.ts'
import type { ElementNode, Tree } from './tree.ts'

/** A frame of the document and its content, serialized by `snapshot` inside the frame. */
export interface FrameSnapshot {
  readonly element: Element
  readonly content: string
}

/** Serializes the document's tree, for the document that contains the frame or for the engine. */
export function snapshot(frames: readonly FrameSnapshot[]): string {
  const tree = treeOf(undefined, frames)
  return asJson(tree ? withAbsoluteUrls(tree) : { tag: 'html', attributes: {}, children: [] })
}

/** Serializes a value while `toJSON` methods that old libraries add to built-in prototypes are removed. */
function asJson(value: unknown): string {
  const owners = [Object.prototype, Array.prototype, String.prototype]
  const own = owners.map((owner) => Object.getOwnPropertyDescriptor(owner, 'toJSON'))
  const put = (at: number, descriptor: PropertyDescriptor) => Object.defineProperty(owners[at]!, 'toJSON', descriptor)
  try {
    for (const [at, found] of own.entries()) if (found?.configurable) put(at, { configurable: true, value: undefined })
    return JSON.stringify(value)
  } finally {
    for (const [at, found] of own.entries()) if (found?.configurable) put(at, found)
  }
}

/** Returns the document, or one element of it, with the content of its frames; undefined for an empty document. */
export function treeOf(element: Element | undefined, frames: readonly FrameSnapshot[]): Tree | undefined {
  const root = element ?? document.documentElement
  // A document may have no element at all.
  if (!root) return undefined
  const contents: FrameContent = new Map(
    frames.map((frame) => [frame.element, JSON.parse(frame.content) as ElementNode]),
  )
  return treeFromPage(root, contents)
}

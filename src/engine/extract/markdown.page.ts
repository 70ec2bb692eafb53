/** Converts a document to Markdown; runs inside it. */
import { toMarkdown } from './markdown.ts'
import { type FrameSnapshot, treeOf } from './snapshot.page.ts'

/** Returns the document, or one element of it, as Markdown. */
export function markdown(element: Element | undefined, frames: readonly FrameSnapshot[]): string {
  const tree = treeOf(element, frames)
  return tree ? toMarkdown(tree) : ''
}

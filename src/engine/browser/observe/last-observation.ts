/** The last observation of each session, stored for the comparison with the next one. */
import type { BatchTarget } from '../ports/batch-target.ts'
import { tabIdOf } from '../tabs/tab-ids.ts'
import type { AriaNode, Children } from './snapshot/aria.ts'
import type { Capture } from './snapshot/capture.ts'
import { type View, viewOf } from './compare.ts'
import { pageView } from './snapshot/page-view.ts'

/** A page at one moment. */
export interface Seen {
  readonly url: string
  readonly title: string
  /** ID of the document. */
  readonly document: string
  /** Selector of the part that was observed. */
  readonly part: string | undefined
  readonly scroll: { readonly x: number; readonly y: number }
  readonly focus: { readonly ref: string | null; readonly role: string; readonly name: string } | null
  /** References of all controls. */
  readonly controls: ReadonlySet<string>
  readonly tabs: ReadonlySet<string>
  /** Names of the tools that the page offers. */
  readonly tools: readonly string[]
  /** Number of the session's last event before the observation. */
  readonly seq: number
  /** Text and controls of the page; null when they are too large to store. */
  readonly view: (() => View) | null
}

export interface SeenFacts extends Pick<Seen, 'part' | 'url' | 'seq' | 'controls'> {
  readonly numbers: ReadonlyMap<string, string>
}

export function seenOf(target: BatchTarget, captured: Capture, facts: SeenFacts): Seen {
  const { tree, marks, document, tools } = captured
  const { numbers, ...rest } = facts
  // Build the view on demand, since most observations are never compared.
  let view: View | undefined
  const makeView = () => (view ??= viewOf(pageView(tree, marks), numbers))
  const { x, y } = captured.facts.scroll
  return {
    ...rest,
    title: captured.facts.title,
    document,
    tools,
    scroll: { x, y },
    focus: focusOf(captured, numbers),
    tabs: new Set(target.pages.map(tabIdOf)),
    view: sizeOf(tree) > rememberedChars ? null : makeView,
  }
}

/** Maximum size of a stored tree; there is one per session. */
const rememberedChars = 8_000_000

const last = new WeakMap<BatchTarget, Seen>()

export const lastSeen = (target: BatchTarget): Seen | undefined => last.get(target)
export const remember = (target: BatchTarget, seen: Seen): void => void last.set(target, seen)

function focusOf({ all, marks }: Capture, numbers: ReadonlyMap<string, string>): Seen['focus'] {
  const find = (nodes: Children): AriaNode | undefined => {
    for (const node of nodes) {
      if (typeof node === 'string') continue
      const found = find(node.children ?? [])
      if (found) return found
      if (node.ref !== undefined && marks.get(node.ref)?.focused) return node
    }
    return undefined
  }
  const node = find(all)
  return node ? { ref: numbers.get(node.ref!) ?? null, role: node.role, name: node.name ?? '' } : null
}

/** Estimates the size of a tree in characters. */
function sizeOf(children: Children): number {
  return children.reduce((sum, child) => {
    if (typeof child === 'string') return sum + child.length
    return sum + 100 + (child.name?.length ?? 0) + (child.text?.length ?? 0) + sizeOf(child.children ?? [])
  }, 0)
}

/** Finds texts in the observation of a page, with references. */
import type { Page } from 'playwright'
import type { FoundText } from '../../../core/operation/command.ts'
import { limits } from '../../../core/limits/limits.ts'
import { callLimit } from '../elements/act.ts'
import { rootOf } from './observe.ts'
import { isControl, nodesWithRef } from './snapshot/aria.ts'
import { capture } from './snapshot/capture.ts'
import type { Entry } from './snapshot/entries.ts'
import { pageView } from './snapshot/page-view.ts'
import { squeeze } from '../../../core/text/pieces.ts'

interface FindOptions {
  readonly selector: string | undefined
  readonly signal: AbortSignal
}

interface Match extends Omit<FoundText, 'ref'> {
  /** Playwright's reference. */
  readonly own: string | undefined
}

/** Returns the names and texts that match, in document order. @throws BaxError for a selector without a match. */
export async function findTexts(
  page: Page,
  matches: (text: string) => boolean,
  { selector, signal }: FindOptions,
): Promise<FoundText[]> {
  const root = selector === undefined ? undefined : await rootOf(page, selector)
  const captured = await capture(page, { root, everything: true, limit: callLimit(limits.observe.timeoutMs, signal) })
  const { tree, all, marks } = captured
  const found = pageView(tree, marks).flatMap((entry) => matchesIn(entry, matches, undefined))
  // References of earlier observations stay valid: name their elements again, too.
  const known = [...nodesWithRef(all)].filter((node) => isControl(node, marks) || node.role !== 'generic')
  const refs = [...known.map(({ ref }) => ref), ...found.flatMap(({ own }) => own ?? [])]
  const { numbers } = await captured.name([...new Set(refs)], [])
  return found.map(({ own, ...text }) => ({ ...text, ref: (own !== undefined && numbers.get(own)) || null }))
}

function matchesIn(entry: Entry, matches: (text: string) => boolean, around: string | undefined): Match[] {
  const { role, name, tail, node, below } = entry
  const own = entry.ref ?? node?.ref ?? around
  const texts = [name, tail ?? ''].map(squeeze).filter((text) => text !== '' && matches(text))
  return [...texts.map((text) => ({ text, role, own })), ...below.flatMap((inner) => matchesIn(inner, matches, own))]
}

/** Finds elements by a fingerprint, in the frame of a selector. */
import type { Page } from 'playwright'
import { limits } from '../../../core/limits/limits.ts'
import type { Candidate, Fingerprint } from '../../../core/shapes/recording.ts'
import { pageFunction } from '../page/page-function.ts'
import type * as fingerprints from './fingerprint.page.ts'
import fingerprintScript from './fingerprint.page.ts?inline'
import { parseSelector, rootOf } from './selectors.ts'

const find = pageFunction<typeof fingerprints.findSimilar>(fingerprintScript, 'findSimilar')

/** Returns the elements that fit best; several when they fit about equally well. */
export async function findSimilar(page: Page, selector: string, fingerprint: Fingerprint): Promise<Candidate[]> {
  const parsed = parseSelector(selector)
  // Such a selector enters a frame by other means than `frame=`; the main document is the wrong one to search.
  if (parsed.inner.includes('internal:control=')) return []
  const root = rootOf(page, parsed)
  if ((await root.count()) === 0) return []
  const options = { fingerprint, byPosition: /(?:^|>>)\s*nth=/.test(parsed.inner) }
  const { candidates } = await root.evaluate(find, options, { timeout: limits.command.elementMs })
  const frames = parsed.frames.map((css) => `frame=${css} >> `).join('')
  return candidates.map((one) => ({ ...one, selector: frames + one.selector }))
}

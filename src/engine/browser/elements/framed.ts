/** Finds matches of a selector in the frames of a page, for hints. */
import type { Frame, Page } from 'playwright'
import candidatesScript from './candidates.page.ts?inline'
import type * as candidates from './candidates.page.ts'
import type { Candidate } from './nearest.page.ts'
import { pageFunction } from '../batch/page-function.ts'
import { isGone } from '../batch/playwright-errors.ts'

/** Maximum number of frames to search; pages with advertisements have hundreds. */
const maxFrames = 30
const maxCandidates = 3

const uniqueSelector = pageFunction<typeof candidates.uniqueSelector>(candidatesScript, 'uniqueSelector')
const nameOf = pageFunction<typeof candidates.elementName>(candidatesScript, 'elementName')

/** Returns the matches of a selector in the frames of a page, each with its chain of frames. */
export async function framedMatches(page: Page, selector: string): Promise<Candidate[]> {
  const frames = page.frames().slice(1, maxFrames + 1)
  const found = await Promise.all(frames.map((frame) => matchIn(frame, selector)))
  return found.filter((candidate) => candidate !== null).slice(0, maxCandidates)
}

async function matchIn(frame: Frame, selector: string): Promise<Candidate | null> {
  try {
    const match = frame.locator(selector).first()
    if ((await match.count()) === 0) return null
    const [chain, element] = await Promise.all([chainTo(frame), match.evaluate(nameOf, undefined)])
    return { selector: `${chain}${selector}`, element }
  } catch (error) {
    // Ignore frames that close meanwhile.
    if (isGone(error)) return null
    throw error
  }
}

/** Returns a chain such as `frame=#outer >> frame=#inner >> `. */
async function chainTo(frame: Frame): Promise<string> {
  const parent = frame.parentFrame()
  if (!parent) return ''
  const element = await frame.frameElement()
  const own = await element.evaluate(uniqueSelector as (node: Node) => string, undefined)
  return `${await chainTo(parent)}frame=${own} >> `
}

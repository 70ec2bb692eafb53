/** Elements that a selector would find if it entered a frame: people forget that a page is made of several. */
import type { Frame, Page } from 'playwright'
import framedScript from './framed.page.ts?inline'
import type { Candidate } from './nearest.page.ts'
import { pageFunction } from '../batch/page-function.ts'
import { isGone } from '../batch/playwright-errors.ts'

/** Frames looked into at most; a page of advertisements has hundreds. */
const mostFrames = 30
const mostCandidates = 3

const frameSelector = pageFunction<Element, string>(framedScript, 'frameSelector')
const nameOf = pageFunction<Element, string>(framedScript, 'nameOf')

/** The matches of a selector of no frame in the frames of the page, each with the chain that leads to it. */
export async function framedMatches(page: Page, selector: string): Promise<Candidate[]> {
  const frames = page.frames().slice(1, mostFrames + 1)
  const found = await Promise.all(frames.map((frame) => matchIn(frame, selector)))
  return found.filter((candidate) => candidate !== null).slice(0, mostCandidates)
}

async function matchIn(frame: Frame, selector: string): Promise<Candidate | null> {
  try {
    const match = frame.locator(selector).first()
    if ((await match.count()) === 0) return null
    const [chain, element] = await Promise.all([chainTo(frame), match.evaluate(nameOf, undefined)])
    return { selector: `${chain}${selector}`, element }
  } catch (error) {
    // A frame that goes away meanwhile has nothing to offer.
    if (isGone(error)) return null
    throw error
  }
}

/** `frame=#outer >> frame=#inner >> ` */
async function chainTo(frame: Frame): Promise<string> {
  const parent = frame.parentFrame()
  if (!parent) return ''
  const element = await frame.frameElement()
  const own = await element.evaluate(frameSelector as (node: Node) => string, undefined)
  return `${await chainTo(parent)}frame=${own} >> `
}

/** Actions of a scrape on a rendered page. */
import { setTimeout as sleep } from 'node:timers/promises'
import { BaxError, type ErrorCode } from '../../../core/errors/errors.ts'
import { protocolText } from '../../cdp/protocol-errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { ScrapeAction, ScrapeData } from '../../../core/shapes/scrape.ts'
import actScript from '../page/act.page.ts?inline'
import type { Point } from '../../../core/operation/command.ts'
import { keysOf } from './keys.ts'
import type { Visit } from './visit.ts'
import readScript from '../page/read.page.ts?inline'

export type ActionResults = NonNullable<ScrapeData['actions']>

/** Runs the actions in order. @throws BaxError `action_failed` with `details.index` */
export async function runActions(visit: Visit, actions: readonly ScrapeAction[], signal: AbortSignal) {
  const results = new Results()
  for (const [index, action] of actions.entries()) {
    try {
      await run(visit, action, signal, results, index)
    } catch (error) {
      if (signal.aborted || !(error instanceof BaxError) || !isActionError(error)) throw error
      throw new BaxError('action_failed', `action ${index} (${action.type}) failed: ${error.message}`, {
        cause: error,
        details: { index, type: action.type, ...('selector' in action && { selector: action.selector }) },
      })
    }
  }
  return results.done
}

/** Results of the actions, limited in total size because all of them are held in memory. */
class Results {
  readonly done: ActionResults = { screenshots: [], results: [] }
  #chars = 0

  /** @throws BaxError `content_too_large` */
  add<T>(result: T): T {
    this.#chars += typeof result === 'string' ? result.length : JSON.stringify(result).length
    const { productChars } = limits.scrape
    if (this.#chars <= productChars) return result
    throw new BaxError(
      'content_too_large',
      `the actions of a scrape may produce at most ${productChars} characters in total`,
    )
  }
}

const actionErrors: ReadonlySet<string> = new Set<ErrorCode>([
  'element_not_found',
  'element_not_visible',
  'invalid_selector',
  'evaluate_failed',
  'invalid_data',
  'cdp_error',
  'action_failed',
  'content_too_large',
])

/** Returns whether an error was caused by an action rather than by the page or bax. */
const isActionError = (error: BaxError): boolean =>
  actionErrors.has(error.code) || (error.code === 'navigation_aborted' && protocolText(error) !== '')

async function run(visit: Visit, action: ScrapeAction, signal: AbortSignal, results: Results, index: number) {
  const { done } = results

  switch (action.type) {
    case 'wait':
      if (action.milliseconds !== undefined) await sleep(action.milliseconds, undefined, { signal })
      if (action.selector !== undefined) await waitForVisible(visit, action.selector, signal)
      return
    case 'click':
      await click(visit, action.selector, signal)
      return visit.waitUntilStable(signal)
    case 'scroll':
      await visit.inPage(signal, actScript, 'scrollPage', { direction: action.direction, amount: action.amount })
      return visit.waitUntilStable(signal)
    case 'type':
      await focus(visit, action.selector, signal)
      await visit.send('Input.insertText', { text: action.text }, signal)
      return visit.waitUntilStable(signal)
    case 'write':
      await visit.send('Input.insertText', { text: action.text }, signal)
      return visit.waitUntilStable(signal)
    case 'press':
      if (action.selector !== undefined) await focus(visit, action.selector, signal)
      for (const event of keysOf(action.key)) await visit.send('Input.dispatchKeyEvent', event, signal)
      return visit.waitUntilStable(signal)
    case 'screenshot':
      done.screenshots.push(results.add(await capture(visit, action.full_page, signal)))
      return
    case 'scrape':
      done.scrapes = [...(done.scrapes ?? []), results.add((await visit.evaluate(readHtml, signal)) as ScrapedHtml)]
      return
    case 'execute':
    case 'executeJavascript':
      done.results.push({ index, value: results.add(await execute(visit, action.script, signal)) })
      return visit.waitUntilStable(signal)
  }
}

type ScrapedHtml = NonNullable<ActionResults['scrapes']>[number]

const readHtml = '({ url: location.href, html: document.documentElement.outerHTML })'

/** Evaluates an expression or a function body. */
async function execute(visit: Visit, script: string, signal: AbortSignal): Promise<unknown> {
  try {
    return (await visit.evaluate(script, signal)) ?? null
  } catch (error) {
    if (!/SyntaxError: (?:Illegal return|await is only)/.test((error as Error).message)) throw error
    return (await visit.evaluate(`(async () => {${script}\n})()`, signal)) ?? null
  }
}

async function click(visit: Visit, selector: string, signal: AbortSignal): Promise<void> {
  await waitForVisible(visit, selector, signal)
  const spot = await visit.inPage<Point | null>(signal, actScript, 'spotOf', selector)
  if (!spot) throw new BaxError('element_not_found', `no element matches ${selector}`)
  const press = { ...spot, button: 'left', clickCount: 1 }
  await visit.send('Input.dispatchMouseEvent', { type: 'mouseMoved', ...spot }, signal)
  await visit.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...press }, signal)
  await visit.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...press }, signal)
}

async function focus(visit: Visit, selector: string, signal: AbortSignal): Promise<void> {
  await waitForVisible(visit, selector, signal)
  await visit.inPage(signal, actScript, 'focusElement', selector)
}

async function waitForVisible(visit: Visit, selector: string, signal: AbortSignal): Promise<void> {
  const end = performance.now() + limits.scrape.elementMs
  for (;;) {
    const state = await stateOf(visit, selector, signal)
    if (state === 'visible') return
    if (performance.now() >= end) {
      if (state === 'hidden') throw new BaxError('element_not_visible', `${selector} is not visible`)
      throw new BaxError('element_not_found', `no element matches ${selector}`)
    }
    await sleep(50, undefined, { signal })
  }
}

async function stateOf(visit: Visit, selector: string, signal: AbortSignal): Promise<string> {
  try {
    return await visit.inPage<string>(signal, actScript, 'stateOf', selector)
  } catch (error) {
    if (!/SyntaxError/.test((error as Error).message)) throw error
    throw new BaxError('invalid_selector', `${selector} is not a CSS selector`, { cause: error })
  }
}

/** Maximum width and height of Chromium's surfaces, in pixels. */
const maxSide = 16_384

/** Captures the viewport or the whole page as a base64 PNG. */
export async function capture(visit: Visit, fullPage: boolean, signal: AbortSignal): Promise<string> {
  const options = { format: 'png', captureBeyondViewport: fullPage, optimizeForSpeed: false }
  if (!fullPage) return (await visit.send('Page.captureScreenshot', options, signal))['data'] as string
  const { width, height } = await visit.inPage<{ width: number; height: number }>(signal, readScript, 'pageSize')
  const clip = { x: 0, y: 0, width: Math.min(width, maxSide), height: Math.min(height, maxSide), scale: 1 }
  return (await visit.send('Page.captureScreenshot', { ...options, clip }, signal))['data'] as string
}

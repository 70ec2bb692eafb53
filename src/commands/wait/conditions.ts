/** Conditions that `wait_for` waits for; each fails with an error that reports what there was instead. */
import { setTimeout as pause } from 'node:timers/promises'
import type { CommandContext } from '../../core/operation/command.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { countVisible } from '../read/state.ts'
import { waitForElement } from './element.ts'
import { untilLoaded } from './navigation-watch.ts'
import { excerptOf, shortened, shownText, waitsFor } from './page-text.ts'

interface Found {
  readonly url?: string
  readonly status_code?: number
}

/** Waits up to `ms` for one condition. */
type Condition<Name extends string, Value = string> = (
  context: CommandContext,
  data: { readonly [Key in Name]: Value } & { readonly state?: ElementState },
  ms: number,
) => Promise<Found | void>

type ElementState = 'visible' | 'hidden' | 'attached' | 'detached'

const late = (message: string, details: Record<string, unknown>) => new BaxError('timeout', message, { details })

const selector: Condition<'selector'> = async (context, { selector, state = 'visible' }, ms) => {
  if (state === 'visible' || state === 'attached') {
    await waitForElement(context, { selector, timeout_ms: ms }, state === 'visible')
    return
  }
  const count = async () =>
    state === 'hidden'
      ? countVisible(context, selector)
      : (await context.measure(selector, { limit: 1, includeHtml: false })).total
  const probe = async () => {
    const matched = await count()
    return { met: matched === 0, matched }
  }
  const seen = await context.poll(probe, ms)
  if (seen.met) return
  if ('unanswered' in seen) throw late(`the page did not answer within ${ms} ms`, { selector, state })
  const { matched } = seen
  const still = state === 'hidden' ? 'is still visible' : 'is still in the page'
  const which = matched > 1 ? ` (${matched} matches)` : ''
  throw late(`${selector} ${still} after ${ms} ms${which}`, { selector, state, matched })
}

const text: Condition<'text'> = async (context, { text }, ms) => {
  const { met } = await context.poll(async () => ({ met: (await shownText(context.page, text)) !== null }), ms)
  if (met) return
  const actual = await excerptOf(context.page)
  throw late(`${JSON.stringify(text)} did not appear within ${ms} ms; ${actual}`, { text })
}

const text_gone: Condition<'text_gone'> = async (context, { text_gone: text }, ms) => {
  const probe = async () => {
    const shown = await shownText(context.page, text)
    return { met: shown === null, shown }
  }
  const seen = await context.poll(probe, ms)
  if (seen.met) return
  if ('unanswered' in seen) throw late(`the page did not answer within ${ms} ms`, { text })
  const where = seen.shown ? `: ${JSON.stringify(seen.shown)}` : ''
  throw late(`${JSON.stringify(text)} is still visible after ${ms} ms${where}`, { text })
}

const url: Condition<'url'> = async ({ page, browserContext, matcher, poll, signal }, { url }, ms) => {
  const matches = matcher({ glob: url }, 'url')
  const probe = async () => {
    // A click may open the URL in a new tab.
    const tabs = browserContext.pages().filter((tab) => tab !== page && matches(tab.url()))
    const openers = await Promise.all(tabs.map((tab) => tab.opener()))
    const found = matches(page.url()) ? page : tabs.find((_, at) => openers[at] === page)
    return { met: found !== undefined, found }
  }
  const seen = await poll(probe, ms)
  const found = 'found' in seen ? seen.found : undefined
  if (!found)
    throw late(`the URL did not match ${url} within ${ms} ms: it is ${shortened(page.url())}`, { url: page.url() })
  await untilLoaded(found, { timeout: ms, signal }).catch((error: Error) => {
    if (error.name !== 'TimeoutError') throw error
    throw late(`${shortened(found.url())} did not load within ${ms} ms`, { url: found.url() })
  })
  return { url: found.url() }
}

const load: Condition<'load', 'load' | 'domcontentloaded' | 'networkidle'> = async (context, { load }, ms) => {
  const { page, signal, events } = context
  try {
    if (load === 'load') await untilLoaded(page, { timeout: ms, signal })
    else await page.waitForLoadState(load, { timeout: Math.max(1, ms), signal })
  } catch (error) {
    if (!(error instanceof Error && error.name === 'TimeoutError')) throw error
    const open = new Map<unknown, string>()
    for (const { type, data } of events.since(0)) {
      if (type === 'network.request') open.set(data['request_id'], String(data['url']))
      else if (type.startsWith('network.')) open.delete(data['request_id'])
    }
    const urls = [...open.values()]
    throw late(`the page did not reach ${load} within ${ms} ms${waitsFor(urls)}`, {
      url: page.url(),
      open: urls.slice(-20),
    })
  }
  return { url: page.url() }
}

const isTrue = (type: string, value: unknown) =>
  type !== 'nan' && Boolean(value) && !(type === 'bigint' && value === '0')

const functionTrue: Condition<'function'> = async (context, { function: expression }, ms) => {
  const { evaluate, poll } = context
  await context.approveCode(expression)
  let source = expression
  const end = performance.now() + ms
  const read = () => evaluate(source, { timeoutMs: Math.max(250, end - performance.now()) })
  const probe = async () => {
    let result = await read()
    const { kind } = (result.value ?? {}) as { kind?: unknown }
    if (source === expression && result.type === 'object' && kind === 'function') {
      source = `(${expression})()`
      result = await read()
    }
    return { met: isTrue(result.type, result.value), value: result.value }
  }
  const seen = await poll(probe, ms)
  if (seen.met) return
  const value = 'value' in seen ? `: its value is ${shortened(JSON.stringify(seen.value ?? null))}` : ''
  throw late(`the function was not true within ${ms} ms${value}`, { function: expression })
}

const milliseconds: Condition<'milliseconds', number> = async ({ signal }, { milliseconds }) => {
  await pause(milliseconds, undefined, { signal })
}

const response: Condition<'response'> = async ({ events, actionSeq, matcher, poll }, { response: glob }, ms) => {
  const matches = matcher({ glob }, 'response')
  const arrived = () => events.since(actionSeq).filter(({ type }) => type === 'network.response')
  const probe = async () => {
    const found = arrived().find(({ data }) => matches(String(data['url'])))
    return { met: found !== undefined, data: found?.data }
  }
  const seen = await poll(probe, ms)
  if ('data' in seen && seen.data) return { url: String(seen.data['url']), status_code: Number(seen.data['status']) }
  const others = arrived().map(({ data }) => String(data['url']))
  const count = others.length === 1 ? '1 other' : `${others.length} others`
  const instead = others.length > 0 ? `${count} did, the last one from ${others.at(-1)}` : 'none did'
  throw late(`no response from ${glob} arrived within ${ms} ms: ${instead}`, { responses: others.slice(-20) })
}

export const conditions = { selector, text, text_gone, url, load, function: functionTrue, milliseconds, response }

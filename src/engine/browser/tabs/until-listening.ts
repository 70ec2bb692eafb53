/** Waits for what a page loads before its input: clicks and keys that come too early have no effect. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { oncePer } from '../../../core/once-per.ts'
import { requestLogOf } from '../network/request-log.ts'
import { documentIn, isParsing } from '../page/internals.ts'
import { untilParsed } from '../page/parsed-document.ts'
import { tabIdOf } from './tab-ids.ts'

const { dataMs, reactionMs } = limits.command
const intervalMs = 20
/** Number of requests that were waited for in vain after which a document is not waited for any more. */
const maxUnanswered = 5

/** Times of the last input of documents. */
const lastInput = new WeakMap<object, number>()
/** Requests of a document, as `kindOf` tells them apart, that input has waited for in vain. */
const unansweredIn = oncePer((_document: object) => new Set<string>())

/**
 * Waits until the document of a page is parsed, and for the data and scripts that it has requested, and for those that
 * they request in turn, at most `ms`. What it has requested since the last input is waited for longer.
 */
export async function untilListening(page: Page, ms: number, signal: AbortSignal): Promise<void> {
  const began = performance.now()
  if (isParsing(page.mainFrame())) await untilParsed(page.mainFrame(), ms)
  const document = documentIn(page.mainFrame())
  if (!document) return
  const before = lastInput.get(document)
  const last = Math.min(began + ms, performance.now() + (before === undefined ? dataMs : reactionMs))
  const left = () => last - performance.now()
  if (before === undefined) await untilTimersRun(page, left(), signal)
  const unanswered = unansweredIn(document)
  if (unanswered.size >= maxUnanswered) return
  const awaited = (now = performance.now()) =>
    loadingIn(page, Math.min(now - dataMs, Math.max(now - reactionMs, before ?? now))).filter(
      ({ url }) => !unanswered.has(kindOf(url)),
    )
  while (awaited().length > 0 && left() > 0) {
    while (awaited().length > 0 && left() > 0) await pause(intervalMs, undefined, { signal })
    // The page handles what has arrived, and may request more.
    if (left() > 0) await untilTimersRun(page, left(), signal)
  }
  for (const { url } of awaited(began)) unanswered.add(kindOf(url))
  lastInput.set(document, performance.now())
}

/** Waits for the timers that the document has set so far: jQuery calls the listeners of its `ready` in one. */
async function untilTimersRun(page: Page, ms: number, signal: AbortSignal): Promise<void> {
  const run = page.evaluate(() => new Promise((resolve) => setTimeout(resolve)))
  // The document may be replaced meanwhile.
  const answered = run.then(ignore, ignore)
  await withDeadline(answered, { ms: Math.max(1, ms), value: undefined, signal })
}

const ignore = () => {}

const loaded = new Set(['xhr', 'fetch', 'script'])

/**
 * Returns the requests since a time of data and scripts that a page waits for: many applications ignore clicks until they
 * have them. A request that takes longer is often one for messages, which ends with the next message.
 */
const loadingIn = (page: Page, since: number) =>
  requestLogOf(page.context())
    .pendingSince(since)
    .filter(({ resource_type: type, tab_id: tab }) => tab === tabIdOf(page) && loaded.has(type))

/** Names in a path, and values in a query, that many pages send anew with each request: times, numbers and tokens. */
const changing = /\/(?=[^/?]*\d|[^/?]{20})[^/?]*(?=[/?]|$)|[?&][^=&?]*=(?=[^&]*[\dA-Z]|[^&]{20})[^&]*/g

/** Characters of a URL that are compared. */
const comparedChars = 1000

/** Returns what a URL has in common with those of later requests for the same. */
const kindOf = (url: string) =>
  url
    .slice(0, comparedChars)
    .replace(/^\w+:\/\/[^/]*/, '')
    .replaceAll(changing, '')

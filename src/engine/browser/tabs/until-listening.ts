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

const { dataMs } = limits.command
const intervalMs = 20

/** Documents that have received input. */
const used = new WeakSet<object>()
/** URLs, without their queries, that a document has requested and input has waited for in vain. */
const unansweredIn = oncePer((_document: object) => new Set<string>())

/**
 * Waits until the document of a page is parsed, and for the data and scripts that it has requested, at most `ms`. The
 * first input of a document also waits for those that they request in turn.
 */
export async function untilListening(page: Page, ms: number, signal: AbortSignal): Promise<void> {
  const began = performance.now()
  if (isParsing(page.mainFrame())) await untilParsed(page.mainFrame(), ms)
  const document = documentIn(page.mainFrame())
  if (!document) return
  const isFirst = !used.has(document)
  used.add(document)
  if (isFirst) await untilTimersRun(page, Math.min(began + ms - performance.now(), dataMs), signal)
  const sent = new Set(loadingIn(page, began - dataMs).map(({ request_id: id }) => id))
  if (!isFirst && sent.size === 0) return
  const unanswered = unansweredIn(document)
  const awaited = (since: number) =>
    loadingIn(page, since).filter(
      ({ request_id: id, url }) => (isFirst || sent.has(id)) && !unanswered.has(withoutQuery(url)),
    )
  const last = Math.min(began + ms, performance.now() + dataMs)
  while (awaited(performance.now() - dataMs).length > 0 && performance.now() < last)
    await pause(intervalMs, undefined, { signal })
  for (const { url } of awaited(began - dataMs)) unanswered.add(withoutQuery(url))
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

const withoutQuery = (url: string) => url.split('?', 1)[0]!

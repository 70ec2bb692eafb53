/** Waits for the scripts of a document before its input: clicks and keys that come too early have no effect. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright'
import { limits } from '../../../core/limits/limits.ts'
import { requestLogOf } from '../network/request-log.ts'
import { documentIn, isParsing } from '../page/internals.ts'
import { untilParsed } from '../page/parsed-document.ts'
import { tabIdOf } from './tab-ids.ts'

const { firstDataMs } = limits.command
const intervalMs = 20

/** Documents that have received input. */
const used = new WeakSet<object>()

/** Waits until the document of a page is parsed, and for its first data, at most `ms`; at most once for each document. */
export async function untilListening(page: Page, ms: number, signal: AbortSignal): Promise<void> {
  const end = performance.now() + ms
  if (isParsing(page.mainFrame())) await untilParsed(page.mainFrame(), ms)
  const document = documentIn(page.mainFrame())
  if (!document || used.has(document)) return
  used.add(document)
  const last = Math.min(end, performance.now() + firstDataMs)
  while (isLoadingData(page) && performance.now() < last) await pause(intervalMs, undefined, { signal })
}

/**
 * Returns whether scripts of a page wait for data: many applications ignore clicks until they have it. A request that
 * takes longer is often one for messages, which ends with the next message.
 */
const isLoadingData = (page: Page): boolean =>
  requestLogOf(page.context())
    .pendingSince(performance.now() - firstDataMs)
    .some(({ resource_type: type, tab_id: tab }) => tab === tabIdOf(page) && (type === 'xhr' || type === 'fetch'))

/** Reloads a crashed tab of a user's browser over CDP, which keeps the tab, its history and its session storage. */
import { setTimeout as sleep } from 'node:timers/promises'
import { asBaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { CdpChannel } from '../../cdp/router.ts'
import type { CommandResult } from '../cdp-types.ts'

/**
 * Reloads a tab unless that would repeat a form submission. `method` is that of the request for its document, if known.
 * Returns its URL, and the reason why it was not reloaded, if any.
 */
export async function reloadTab(
  open: () => Promise<CdpChannel>,
  targetId: string,
  method: string | undefined,
): Promise<{ url: string; obstacle?: string }> {
  const channel = await open()
  let url = ''
  try {
    const { sessionId } = await channel.send('Target.attachToTarget', { targetId, flatten: true })
    const session = sessionId as string
    const history = await channel.send('Page.getNavigationHistory', {}, session)
    const { entries, currentIndex } = history as CommandResult<'Page.getNavigationHistory'>
    const entry = entries[currentIndex]
    url = entry?.url ?? ''
    if (method === undefined ? entry?.transitionType === 'form_submit' : method !== 'GET') {
      return { url, obstacle: `it showed the result of a ${method ?? 'form'} request` }
    }
    await withDeadline(reload(channel, session), { ms: limits.session.reloadMs, error: 'it did not load in time' })
    return { url }
  } catch (error) {
    return { url, obstacle: asBaxError(error).message }
  } finally {
    channel.close()
  }
}

/** Reloads a page and polls until it has loaded: a crashed page cannot enable the domain that emits load events. */
async function reload(channel: CdpChannel, session: string): Promise<void> {
  await channel.send('Page.reload', {}, session)
  const end = performance.now() + limits.session.reloadMs
  while (performance.now() < end) {
    const params = { expression: loadedUrl, awaitPromise: true, returnByValue: true }
    // The call fails when the old document goes away during it.
    const answer = await channel.send('Runtime.evaluate', params, session).catch(() => undefined)
    const { value } = (answer?.['result'] ?? {}) as { value?: unknown }
    if (typeof value === 'string' && value !== 'about:blank') return
    await sleep(pollMs)
  }
}

const pollMs = 50

const loadedUrl = `new Promise((done) => {
  const report = () => done(location.href)
  if (document.readyState === 'complete') report()
  else addEventListener('load', report)
})`

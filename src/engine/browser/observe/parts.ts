/** Parts of an observation that come from the session and its events. */
import type { Page } from 'playwright'
import { toApiCookie } from '../../../commands/cookie-shape.ts'
import type { SessionEvent } from '../../../core/events/events.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { Observation } from '../../../core/shapes/observe.ts'

/** Returns the last console messages of the pages, including uncaught errors. */
export function consolePart(events: readonly SessionEvent[]): NonNullable<Observation['console']> {
  return events
    .filter(({ type }) => type === 'console' || type === 'page.error')
    .slice(-limits.observe.recent)
    .map(({ type, data }) => {
      if (type === 'page.error') return { level: 'error', text: String(data['message']) }
      const { level, text, url, line } = data as { level: string; text: string; url?: string; line?: number }
      return { level, text, ...(url !== undefined && { url }), ...(line !== undefined && { line }) }
    })
}

/** Returns the last requests with their results. */
export function networkPart(events: readonly SessionEvent[]): NonNullable<Observation['network']> {
  const requests = new Map<unknown, SessionEvent['data']>()
  for (const { type, data } of events) {
    if (!type.startsWith('network.')) continue
    requests.set(data['request_id'], { ...requests.get(data['request_id']), ...data })
  }
  return [...requests.values()].slice(-limits.observe.recent).map(({ method, url, resource_type, status, error }) => ({
    method: String(method),
    url: String(url),
    resource_type: String(resource_type),
    status: typeof status === 'number' ? status : null,
    ...(typeof error === 'string' && { error }),
  }))
}

/** Returns the fields of a dialog that all results have, from the data of an event. */
export function dialogOf(data: SessionEvent['data']): { type: string; kind: string; message: string } {
  const type = String(data['type'])
  return { type, kind: type, message: String(data['message']) }
}

/** Returns the dialogs since a tab's document was opened. */
export function dialogsPart(events: readonly SessionEvent[], tabId: string): Observation['dialogs'] {
  const start = events.findLastIndex(({ type, data }) => type === 'page.navigated' && data['tab_id'] === tabId)
  const dialogs: Observation['dialogs'] = []
  for (const { type, data } of events.slice(start + 1)) {
    if (data['tab_id'] !== tabId) continue
    if (type === 'dialog.opened') dialogs.push({ ...dialogOf(data), open: true })
    if (type !== 'dialog.closed') continue
    const at = dialogs.findIndex(({ open }) => open)
    if (at >= 0) dialogs[at] = { ...dialogs[at]!, open: false, accepted: data['accepted'] === true }
  }
  return dialogs
}

/** Returns the first names of the tools that a page offers, and their number. */
export const shownTools = (tools: readonly string[]): NonNullable<Observation['page_tools']> => ({
  names: tools.slice(0, limits.pageTools.observed),
  total: tools.length,
})

/** Returns how many texts people cannot see, and which tools the page offers, if there are any. */
export const noticesPart = (
  hidden: number,
  tools: readonly string[],
): Pick<Observation, 'hidden_texts' | 'page_tools'> => ({
  ...(hidden > 0 && { hidden_texts: hidden }),
  ...(tools.length > 0 && { page_tools: shownTools(tools) }),
})

/** Reads the cookies of the session and the storage of the page's origin, null for a page without an origin. */
export async function storagePart(page: Page): Promise<NonNullable<Observation['storage']>> {
  const [cookies, areas] = await Promise.all([
    page.context().cookies(),
    page.evaluate(() => {
      try {
        return { local_storage: { ...localStorage }, session_storage: { ...sessionStorage } }
      } catch {
        return { local_storage: null, session_storage: null }
      }
    }),
  ])
  return { cookies: cookies.map(toApiCookie), ...areas }
}

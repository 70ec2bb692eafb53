/** What an observation tells from the events of its session. */
import type { SessionEvent } from '../../../core/events/events.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { Observation } from '../../../core/shapes/observe.ts'

type Data = Record<string, unknown>

/** The last messages of the pages, uncaught errors included. */
export function recentConsole(events: readonly SessionEvent[]): NonNullable<Observation['console']> {
  return events
    .filter(({ type }) => type === 'console' || type === 'page.error')
    .slice(-limits.observe.recent)
    .map(({ type, data }) => {
      if (type === 'page.error') return { level: 'error', text: String(data['message']) }
      const { level, text, url, line } = data as { level: string; text: string; url?: string; line?: number }
      return { level, text, ...(url !== undefined && { url }), ...(line !== undefined && { line }) }
    })
}

/** The last requests with what became of them. */
export function recentNetwork(events: readonly SessionEvent[]): NonNullable<Observation['network']> {
  const requests = new Map<unknown, Data>()
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

/** Dialogs since a tab's document was opened. */
export function recentDialogs(events: readonly SessionEvent[], tabId: string): Observation['dialogs'] {
  const begun = events.findLastIndex(({ type, data }) => type === 'page.navigated' && data['tab_id'] === tabId)
  const dialogs: Observation['dialogs'] = []
  for (const { type, data } of events.slice(begun + 1)) {
    if (data['tab_id'] !== tabId) continue
    if (type === 'dialog.opened')
      dialogs.push({ kind: String(data['kind']), message: String(data['message']), open: true })
    if (type !== 'dialog.closed') continue
    const at = dialogs.findIndex(({ open }) => open)
    if (at >= 0) dialogs[at] = { ...dialogs[at]!, open: false, accepted: data['accepted'] === true }
  }
  return dialogs
}

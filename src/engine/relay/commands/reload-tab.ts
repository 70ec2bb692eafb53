/** Reloads a crashed tab of a user's browser over CDP: the tab, its history and its session storage stay. */
import { limits } from '../../../core/limits.ts'
import { inTime } from '../../browser/in-time.ts'
import type { CdpChannel } from '../../cdp/router.ts'

export interface ReloadRequest {
  readonly targetId: string
  /** HTTP method that its document was requested with, as far as it is known. */
  readonly method: string | undefined
}

/** What became of a tab: its URL, and why it was not reloaded; undefined when it was. */
export interface ReloadOutcome {
  readonly url: string
  readonly obstacle?: string
}

/** Reloads a tab unless that would repeat a form submission. */
export async function reloadTab(
  open: () => Promise<CdpChannel>,
  { targetId, method }: ReloadRequest,
): Promise<ReloadOutcome> {
  const channel = await open()
  let url = ''
  try {
    const { sessionId } = await channel.send('Target.attachToTarget', { targetId, flatten: true })
    const session = sessionId as string
    const { entries, currentIndex } = await channel.send('Page.getNavigationHistory', {}, session)
    const entry = (entries as HistoryEntry[])[currentIndex as number]
    url = entry?.url ?? ''
    if (method === undefined ? entry?.transitionType === 'form_submit' : method !== 'GET') {
      return { url, obstacle: `it showed the result of a ${method ?? 'form'} request` }
    }
    await inTime(reload(channel, session), limits.session.reloadMs, 'it did not load in time')
    return { url }
  } catch (error) {
    return { url, obstacle: (error as Error).message }
  } finally {
    channel.close()
  }
}

interface HistoryEntry {
  readonly url: string
  readonly transitionType?: string
}

async function reload(channel: CdpChannel, session: string): Promise<void> {
  const loaded = new Promise<void>((resolve) => {
    channel.onEvent(({ method, sessionId }) => {
      if (method === 'Page.loadEventFired' && sessionId === session) resolve()
    })
  })
  // What enables the domain in a crashed page takes effect in the page that follows.
  channel.post({ method: 'Page.enable', params: {}, sessionId: session }, () => {})
  await channel.send('Page.reload', {}, session)
  await loaded
}

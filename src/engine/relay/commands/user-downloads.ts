/** Downloads in the tabs of a user's browser, which saves the files in a folder of its user. */
import type { CdpMessage } from '../../cdp/router.ts'
import { Transfers } from '../../browser/cdp/transfers.ts'
import { DownloadWatch } from '../../browser/tabs/download-watch.ts'
import { shownUrl } from '../../browser/tabs/page-events.ts'

/** Stands for the context of the user, the only one whose tabs are driven. */
const userContext = 'user'

export class UserDownloads {
  readonly #transfers = new Transfers(() => {})
  readonly watch = new DownloadWatch(this.#transfers.of(userContext))
  /** Functions that record the ends of downloads, by ID; kept, because each CDP session of a tab reports a download. */
  readonly #ends = new Map<string, ReturnType<DownloadWatch['add']>>()

  /** Handles an event; has to receive every event of the connection. */
  handle(event: CdpMessage): void {
    const { method, params = {} } = event
    const isAttached = method === 'Target.attachedToTarget'
    const targetInfo = { ...(params['targetInfo'] as object), browserContextId: userContext }
    this.#transfers.handle(isAttached ? { ...event, params: { ...params, targetInfo } } : event)
    const { guid, url, suggestedFilename, state, receivedBytes } = params as Record<string, string>
    if (method === 'Page.downloadWillBegin' && !this.#ends.has(guid!)) {
      this.watch.report(url!)
      this.#ends.set(guid!, this.watch.add(suggestedFilename!, shownUrl(url!), { saved_by: 'user' }))
    }
    if (method !== 'Browser.downloadProgress') return
    if (state === 'completed') this.#ends.get(guid!)?.({ state, size: Number(receivedBytes) })
    else if (state === 'canceled')
      this.#ends.get(guid!)?.({ state: 'failed', error: 'the browser or its user canceled the download' })
  }
}

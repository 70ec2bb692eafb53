/** Playwright pages of sessions and relayed browsers. */
import type { Page } from 'playwright'
import type { Calls } from '../client/calls.ts'

/** Connects Playwright to a browser; `close` ends the connection only. */
export async function openPage({ ask }: Calls, session_id: string, signal: AbortSignal) {
  const [{ chromium }, { webSocketDebuggerUrl }] = await Promise.all([
    import('playwright'),
    ask('cdpVersion', { session_id }, { signal, strict: true }),
  ])
  const browser = await chromium.connectOverCDP(webSocketDebuggerUrl)
  return {
    /** Returns the page of the active tab. */
    async page(): Promise<Page> {
      const { result } = await ask('cdp', { session_id, method: 'Page.getFrameTree' }, { signal, strict: true })
      const active = mainFrame(result)
      for (const page of browser.contexts().flatMap((context) => context.pages())) {
        const session = await page.context().newCDPSession(page)
        const id = mainFrame(await session.send('Page.getFrameTree'))
        await session.detach()
        if (id === active) return page
      }
      throw new Error(`Playwright does not list the active tab ${active}`)
    },
    close: () => browser.close(),
  }
}

/** Returns the ID of the main frame, which belongs to a tab as long as it is open. */
const mainFrame = (tree: unknown): string => (tree as { frameTree: { frame: { id: string } } }).frameTree.frame.id

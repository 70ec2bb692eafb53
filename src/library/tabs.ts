/** Tabs of a session or a relayed browser as pages of Playwright. */
import type { Browser, Page } from 'playwright'
import type { Calls } from '../client/calls.ts'

/** `close` ends the connection of Playwright; the tabs stay. */
export function tabsOf({ ask }: Calls, session_id: string, signal: AbortSignal) {
  const options = { signal, strict: true }
  let connection: Promise<Browser> | undefined
  const forget = () => (connection = undefined)
  const connect = async () => {
    const { chromium } = await import('playwright')
    const { webSocketDebuggerUrl } = await ask('cdpVersion', { session_id }, options)
    return (await chromium.connectOverCDP(webSocketDebuggerUrl)).on('disconnected', forget)
  }
  return {
    /** Returns the active tab. */
    async page(): Promise<Page> {
      connection ??= connect()
      connection.catch(forget)
      const browser = await connection
      const active = mainFrame((await ask('cdp', { session_id, method: 'Page.getFrameTree' }, options)).result)
      for (const page of browser.contexts().flatMap((context) => context.pages())) {
        const session = await page.context().newCDPSession(page)
        const frame = mainFrame(await session.send('Page.getFrameTree'))
        await session.detach()
        if (frame === active) return page
      }
      throw new Error(`Playwright does not list the active tab ${active}`)
    },
    async close(): Promise<void> {
      // `page` has reported a failure to connect.
      const browser = await connection?.catch(() => undefined)
      await browser?.close()
    },
  }
}

/** Returns the ID of the main frame, which belongs to a tab as long as it is open. */
const mainFrame = (tree: unknown): string => (tree as { frameTree: { frame: { id: string } } }).frameTree.frame.id

/** Sessions on a browser that somebody else runs, reached over its CDP endpoint. */
import { join } from 'node:path'
import type { Browser } from 'playwright'
import { BaxError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { inTime } from './in-time.ts'
import type { SessionPlan } from './plan.ts'
import { playwright } from './playwright.ts'
import type { Ground } from './ground.ts'

export interface RemoteGround extends Ground {
  onLost(listener: () => void): void
}

/**
 * Connects and makes a context of the session's own; closing it detaches and leaves the browser running.
 * @throws BaxError `browser_failed` when nothing usable answers there.
 */
export async function openRemote(plan: SessionPlan, downloads: string): Promise<RemoteGround> {
  const browser = await connect(plan.cdpUrl!, join(downloads, '.incoming'))
  try {
    const facts = await factsOf(browser)
    const context = await browser.newContext(plan.contextOptions(facts))
    await context.newPage()
    return {
      context,
      workerId: 'remote',
      headless: facts.userAgent.includes('Headless'),
      userAgent: plan.userAgent(facts),
      downloads,
      close: async () => {
        // The other side may be gone, or a page of it may hang: detaching drops the context there all the same.
        await inTime(context.close(), limits.pool.closeMs, 'the context did not close').catch(() => {})
        await browser.close()
      },
      free: () => {},
      onLost: (listener) => void browser.once('disconnected', listener),
    }
  } catch (cause) {
    await browser.close()
    throw unusable(plan.cdpUrl!, cause)
  }
}

async function connect(url: string, artifactsDir: string): Promise<Browser> {
  try {
    return await playwright().chromium.connectOverCDP(url, {
      timeout: limits.pool.launchMs,
      noDefaults: true,
      artifactsDir,
    })
  } catch (cause) {
    throw unusable(url, cause)
  }
}

async function factsOf(browser: Browser): Promise<{ version: string; userAgent: string }> {
  const session = await browser.newBrowserCDPSession()
  const { userAgent } = await session.send('Browser.getVersion')
  await session.detach()
  return { version: browser.version(), userAgent }
}

function unusable(url: string, cause: unknown): BaxError {
  const { host } = new URL(url)
  return new BaxError('browser_failed', `cannot use the browser at cdp_url (${host})`, {
    cause,
    hint: 'is it running with --remote-debugging-port, and is the address right?',
    details: [{ path: 'cdp_url', message: (cause as Error).message.split('\n', 1)[0]! }],
  })
}

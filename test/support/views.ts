/** Live views in a browser, in which a test plays the person. */
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright'
import { locateBrowser } from '../../src/engine/browser/install/locate.ts'

export interface Views {
  /** Opens a page in a new browser context. */
  newPage(options?: BrowserContextOptions): Promise<Page>
  /** Opens a live view in a new browser context. */
  open(url: string): Promise<Page>
  /** Closes all pages. */
  clear(): Promise<void>
  close(): Promise<void>
}

export async function openViews(): Promise<Views> {
  const { path } = await locateBrowser({ headless: true, stealth: false }, { cacheDir: '/nonexistent' })
  const browser: Browser = await chromium.launch({
    executablePath: path,
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-quic',
    ],
  })
  let contexts: BrowserContext[] = []
  const newPage = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext(options)
    contexts.push(context)
    // As `waitUntil`: the usual 30 seconds are too short on a busy machine.
    context.setDefaultTimeout(120_000)
    return context.newPage()
  }
  return {
    newPage,
    open: async (url) => {
      const page = await newPage({ viewport: { width: 1400, height: 900 } })
      await page.goto(url)
      return page
    },
    clear: async () => {
      await Promise.all(contexts.map((context) => context.close()))
      contexts = []
    },
    close: () => browser.close(),
  }
}

export const waitForFrame = (view: Page) =>
  view.waitForFunction(() => Number(document.querySelector('canvas')!.dataset['pictures'] ?? 0) > 0)

export async function takeOver(view: Page): Promise<void> {
  await view.getByRole('button', { name: 'Take control' }).click()
  await view.getByRole('button', { name: 'Return control' }).waitFor()
}

/** Clicks on the canvas at a position of the session's page. */
export async function clickAt(view: Page, x: number, y: number): Promise<void> {
  const box = (await view.locator('canvas').boundingBox())!
  await view.mouse.click(box.x + (x / 1280) * box.width, box.y + (y / 720) * box.height)
}

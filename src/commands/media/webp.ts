/** Takes screenshots as WebP, which Playwright does not offer. */
import type { Page } from 'playwright'
import { BaxError } from '../../core/errors/errors.ts'
import type { ShotOptions } from './screenshot.ts'

export async function takeWebp(page: Page, { quality, clip, fullPage, scale }: ShotOptions): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  try {
    const { cssVisualViewport: view, cssContentSize: content } = await session.send('Page.getLayoutMetrics')
    const viewport = { x: view.pageX, y: view.pageY, width: view.clientWidth, height: view.clientHeight }
    const whole = { x: 0, y: 0, width: content.width, height: content.height }
    const frame = fullPage ? whole : viewport
    // The protocol expects coordinates of the page.
    const area = clip ? within({ ...clip, x: clip.x + frame.x, y: clip.y + frame.y }, frame) : frame
    const ratio = scale === 'css' ? await page.evaluate(() => devicePixelRatio) : 1
    const { data } = await session.send('Page.captureScreenshot', {
      format: 'webp',
      quality,
      clip: { ...area, scale: 1 / ratio },
      captureBeyondViewport: fullPage,
    })
    return Buffer.from(data, 'base64')
  } finally {
    await session.detach()
  }
}

interface Area {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

function within(area: Area, frame: Area): Area {
  const x = Math.max(area.x, frame.x)
  const y = Math.max(area.y, frame.y)
  const width = Math.min(area.x + area.width, frame.x + frame.width) - x
  const height = Math.min(area.y + area.height, frame.y + frame.height) - y
  if (width > 0 && height > 0) return { x, y, width, height }
  throw new BaxError('action_failed', 'the area to capture is outside the page')
}

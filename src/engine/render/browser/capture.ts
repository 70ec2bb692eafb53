/** Screenshots of a rendered page. */
import type { Visit } from './visit.ts'
import readScript from '../page/read.page.ts?inline'

/** Maximum width and height of Chromium's surfaces, in pixels. */
const maxSide = 16_384

/** Captures the viewport or the whole page as a base64 PNG. */
export async function capture(visit: Visit, fullPage: boolean, signal: AbortSignal): Promise<string> {
  const options = { format: 'png', captureBeyondViewport: fullPage, optimizeForSpeed: false }
  if (!fullPage) return (await visit.send('Page.captureScreenshot', options, signal))['data'] as string
  const { width, height } = await visit.inPage<{ width: number; height: number }>(signal, readScript, 'pageSize')
  const clip = { x: 0, y: 0, width: Math.min(width, maxSide), height: Math.min(height, maxSide), scale: 1 }
  return (await visit.send('Page.captureScreenshot', { ...options, clip }, signal))['data'] as string
}

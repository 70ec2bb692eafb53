/** Pictures of a rendered page. */
import type { Visit } from './visit.ts'
import readScript from '../page/read.page.ts?inline'

/** What Chromium's surfaces can hold. */
const longest = 16_384

/** The viewport, or the whole page, as a base64 PNG. */
export async function capture(visit: Visit, fullPage: boolean, signal: AbortSignal): Promise<string> {
  const options = { format: 'png', captureBeyondViewport: fullPage, optimizeForSpeed: false }
  if (!fullPage) return (await visit.send('Page.captureScreenshot', options, signal))['data'] as string
  const { width, height } = await visit.inPage<{ width: number; height: number }>(signal, readScript, 'pageSize')
  const clip = { x: 0, y: 0, width: Math.min(width, longest), height: Math.min(height, longest), scale: 1 }
  return (await visit.send('Page.captureScreenshot', { ...options, clip }, signal))['data'] as string
}

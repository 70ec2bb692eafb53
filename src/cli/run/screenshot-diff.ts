/** Compares screenshots pixel by pixel. */
import pixelmatch from 'pixelmatch'
import { PNG } from 'pngjs'

export interface DiffLimits {
  readonly max_diff_pixels?: number
  readonly max_diff_ratio?: number
  readonly threshold?: number
}

export interface ScreenshotDifference {
  readonly same: boolean
  /** Description of the difference. */
  readonly message: string
  /** Image with the differences in red; missing when the sizes differ. */
  readonly diff?: Buffer
}

/** Compares two PNGs. @throws Error when one of them is not a PNG. */
export function compareScreenshots(expected: Uint8Array, actual: Uint8Array, limits: DiffLimits): ScreenshotDifference {
  const [before, after] = [decode(expected), decode(actual)]
  if (before.width !== after.width || before.height !== after.height) {
    return {
      same: false,
      message: `the screenshot is ${after.width}x${after.height}, the stored one ${before.width}x${before.height}`,
    }
  }
  const { width, height } = before
  const diff = new PNG({ width, height })
  const options = { threshold: limits.threshold ?? 0.2 }
  const pixels = pixelmatch(before.data, after.data, diff.data, width, height, options)
  const allowed = allowedPixels(limits, width * height)
  const ratio = ((pixels / (width * height)) * 100).toFixed(2)
  const message = `${pixels} of ${width * height} pixels differ (${ratio} %), ${allowed} allowed`
  return { same: pixels <= allowed, message, diff: PNG.sync.write(diff) }
}

/** Returns the smaller of the given limits, in pixels; 0 without one. */
function allowedPixels({ max_diff_pixels, max_diff_ratio }: DiffLimits, all: number): number {
  const byRatio = max_diff_ratio === undefined ? undefined : Math.floor(max_diff_ratio * all)
  if (max_diff_pixels === undefined) return byRatio ?? 0
  return byRatio === undefined ? max_diff_pixels : Math.min(max_diff_pixels, byRatio)
}

/** Decodes a PNG; pngjs accepts only a Buffer. */
const decode = (bytes: Uint8Array): PNG => PNG.sync.read(Buffer.from(bytes))

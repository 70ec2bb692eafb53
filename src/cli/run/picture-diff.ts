/** Two pictures, pixel by pixel. */
import pixelmatch from 'pixelmatch'
import { PNG } from 'pngjs'

export interface PictureLimits {
  readonly max_diff_pixels?: number
  readonly max_diff_ratio?: number
  readonly threshold?: number
}

export interface PictureDifference {
  readonly same: boolean
  /** What differs, as a sentence. */
  readonly message: string
  /** Where it differs, in red; absent when the sizes do. */
  readonly diff?: Buffer
}

/** @throws Error when one of them is no PNG. */
export function comparePictures(expected: Uint8Array, actual: Uint8Array, limits: PictureLimits): PictureDifference {
  const [before, after] = [decode(expected), decode(actual)]
  if (before.width !== after.width || before.height !== after.height) {
    return {
      same: false,
      message: `the picture is ${after.width}x${after.height}, the stored one ${before.width}x${before.height}`,
    }
  }
  const { width, height } = before
  const diff = new PNG({ width, height })
  const options = { threshold: limits.threshold ?? 0.2 }
  const pixels = pixelmatch(before.data, after.data, diff.data, width, height, options)
  const allowed = allowedPixels(limits, width * height)
  const ratio = ((pixels / (width * height)) * 100).toFixed(2)
  const message = `${pixels} of ${width * height} pixels differ (${ratio} %), at most ${allowed} may`
  return { same: pixels <= allowed, message, diff: PNG.sync.write(diff) }
}

/** Both limits hold when both are given. */
function allowedPixels({ max_diff_pixels, max_diff_ratio }: PictureLimits, all: number): number {
  const byRatio = max_diff_ratio === undefined ? undefined : Math.floor(max_diff_ratio * all)
  if (max_diff_pixels === undefined) return byRatio ?? 0
  return byRatio === undefined ? max_diff_pixels : Math.min(max_diff_pixels, byRatio)
}

/** pngjs reads from a Buffer only. */
const decode = (bytes: Uint8Array): PNG => PNG.sync.read(Buffer.from(bytes))

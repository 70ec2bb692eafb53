/** `expect: {screenshot: …}`: compares the page with a stored screenshot. */
import { existsSync } from 'node:fs'
import { basename, dirname, extname, resolve } from 'node:path'
import pixelmatch from 'pixelmatch'
import { PNG } from 'pngjs'
import { systemReason } from '../../core/errors/system-errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { readRegularFile } from '../../core/state/outside-files.ts'
import { StepFailure } from './call.ts'
import { writeOutput } from '../output/write-output.ts'
import type { Screenshot } from './report.ts'
import type { Mask } from '../../core/access/mask.ts'
import type { DiffLimits, Expected } from './script/shape.ts'

export interface SnapshotOptions {
  /** Whether to write every screenshot instead of comparing. */
  readonly update: boolean
  /** Whether a missing screenshot is a failure, as in CI, where nobody would notice a new one. */
  readonly inCi: boolean
  readonly mask: Mask
}

/** The screenshots of a comparison, for the reports. */
export interface Comparison {
  readonly note?: string
  readonly pictures: readonly Screenshot[]
}

/** The failure of a comparison, with screenshots that show the difference. */
export class ScreenshotFailure extends StepFailure {
  readonly pictures: readonly Screenshot[]

  constructor(message: string, expected: string, pictures: readonly Screenshot[]) {
    super({ message, code: 'expectation_failed', expected })
    this.pictures = pictures
  }
}

/** Compares a screenshot with the stored one, or stores it. @throws ScreenshotFailure */
export async function checkScreenshot(
  expected: NonNullable<Expected['screenshot']>,
  actual: Uint8Array,
  script: string,
  { update, inCi, mask }: SnapshotOptions,
): Promise<Comparison> {
  const { path, ...limits } = typeof expected === 'string' ? { path: expected } : expected
  const shown = mask.name(path)
  const file = resolve(dirname(script), shown)
  const label = basename(shown, extname(shown))
  const known = existsSync(file)
  if (update || (!known && !inCi)) {
    writeOutput(file, actual)
    return { note: `wrote ${shown}`, pictures: [{ label, png: actual }] }
  }
  const taken: Screenshot = { label: `${label}-actual`, png: actual }
  if (!known)
    throw new ScreenshotFailure(`no stored screenshot ${shown}: create it with --update-snapshots`, shown, [taken])
  const stored = readStored(file, shown)
  const pictures: Screenshot[] = [{ label: `${label}-expected`, png: stored }, taken]
  const { same, message, diff } = compareScreenshots(stored, actual, limits)
  if (same) return { pictures: [taken] }
  if (diff) pictures.push({ label: `${label}-diff`, png: diff })
  throw new ScreenshotFailure(`the page differs from ${shown}: ${message}`, shown, pictures)
}

/** @throws StepFailure with the reason */
function readStored(file: string, shown: string): Buffer {
  try {
    return readRegularFile(file, limits.storedScreenshotBytes)
  } catch (error) {
    throw new StepFailure({ message: `cannot read ${shown}: ${systemReason(error)}`, code: 'invalid_data' })
  }
}

/**
 * Compares two PNGs. Returns an image with the differences in red, unless the sizes differ.
 * @throws Error when one of them is not a PNG.
 */
export function compareScreenshots(expected: Uint8Array, actual: Uint8Array, limits: DiffLimits) {
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

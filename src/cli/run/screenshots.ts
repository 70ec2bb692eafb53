/** `expect: {screenshot: …}`: compares the page with a stored screenshot. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, extname, resolve } from 'node:path'
import { StepFailure } from './call.ts'
import { writeOutput } from '../output/write-output.ts'
import { compareScreenshots } from './screenshot-diff.ts'
import type { Screenshot } from './report.ts'
import type { Mask } from './script/secrets.ts'
import type { Expected } from './script/shape.ts'

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
  const stored = await readFile(file)
  const pictures: Screenshot[] = [{ label: `${label}-expected`, png: stored }, taken]
  const { same, message, diff } = compareScreenshots(stored, actual, limits)
  if (same) return { pictures: [taken] }
  if (diff) pictures.push({ label: `${label}-diff`, png: diff })
  throw new ScreenshotFailure(`the page differs from ${shown}: ${message}`, shown, pictures)
}

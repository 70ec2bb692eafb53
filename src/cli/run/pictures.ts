/** `expect: {screenshot: …}`: a picture beside the script that the page must look like. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, extname, resolve } from 'node:path'
import { keepFile } from './kept-file.ts'
import { StepFailure } from './call.ts'
import { comparePictures } from './picture-diff.ts'
import type { Picture } from './report.ts'
import type { Mask } from './script/secrets.ts'
import type { Expected } from './script/shape.ts'

export interface PictureRules {
  /** Write every picture anew instead of comparing. */
  readonly update: boolean
  /** In CI a missing picture is a fault: nobody would see that it was made. */
  readonly inCi: boolean
  readonly mask: Mask
}

/** What a comparison left behind for the reports. */
export interface Compared {
  readonly note?: string
  readonly pictures: readonly Picture[]
}

/** A picture that is not as expected, with those that show it. */
export class PictureFailure extends StepFailure {
  readonly pictures: readonly Picture[]

  constructor(message: string, expected: string, pictures: readonly Picture[]) {
    super({ message, code: 'expectation_failed', expected })
    this.pictures = pictures
  }
}

/** @throws PictureFailure */
export async function checkPicture(
  expected: NonNullable<Expected['screenshot']>,
  actual: Uint8Array,
  script: string,
  { update, inCi, mask }: PictureRules,
): Promise<Compared> {
  const { path, ...limits } = typeof expected === 'string' ? { path: expected } : expected
  const shown = mask.name(path)
  const file = resolve(dirname(script), shown)
  const label = basename(shown, extname(shown))
  const known = existsSync(file)
  if (update || (!known && !inCi)) {
    await keepFile(file, actual)
    return { note: `wrote ${shown}`, pictures: [{ label, png: actual }] }
  }
  const taken: Picture = { label: `${label}-actual`, png: actual }
  if (!known)
    throw new PictureFailure(`there is no ${shown} to compare with: make it with --update-snapshots`, shown, [taken])
  const stored = await readFile(file)
  const pictures: Picture[] = [{ label: `${label}-expected`, png: stored }, taken]
  const { same, message, diff } = comparePictures(stored, actual, limits)
  if (same) return { pictures: [taken] }
  if (diff) pictures.push({ label: `${label}-diff`, png: diff })
  throw new PictureFailure(`the page does not look like ${shown}: ${message}`, shown, pictures)
}

import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PNG } from 'pngjs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkScreenshot, compareScreenshots, ScreenshotFailure } from '../../../../src/cli/run/screenshots.ts'
import { makeMask } from '../../../../src/core/access/mask.ts'

/** Returns a white image that starts with `black` black pixels. */
function picture(width: number, height: number, black = 0): Buffer {
  const png = new PNG({ width, height })
  png.data.fill(255)
  for (let at = 0; at < black; at += 1) png.data.fill(0, at * 4, at * 4 + 3)
  return PNG.sync.write(png)
}

describe('two screenshots', () => {
  test('are equal when no pixel differs', () => {
    expect(compareScreenshots(picture(10, 10), picture(10, 10), {})).toMatchObject({ same: true })
  })

  test('are compared by pixel, with an image of the differences', () => {
    const { same, message, diff } = compareScreenshots(picture(10, 10), picture(10, 10, 5), {})
    expect(same).toBe(false)
    expect(message).toBe('5 of 100 pixels differ (5.00 %), 0 allowed')
    const { data } = PNG.sync.read(diff!)
    expect([...data.subarray(0, 4)]).toEqual([255, 0, 0, 255])
  })

  test.each([
    [{ max_diff_pixels: 5 }, true],
    [{ max_diff_pixels: 4 }, false],
    [{ max_diff_ratio: 0.05 }, true],
    [{ max_diff_ratio: 0.04 }, false],
    [{ max_diff_ratio: 0.5, max_diff_pixels: 1 }, false],
    [{ threshold: 1 }, true],
  ])('may differ as far as %j allows: %s', (limits, same) => {
    expect(compareScreenshots(picture(10, 10), picture(10, 10, 5), limits).same).toBe(same)
  })

  test('of different sizes are different', () => {
    const { same, message, diff } = compareScreenshots(picture(10, 10), picture(10, 12), {})
    expect([same, message, diff]).toEqual([false, 'the screenshot is 10x12, the stored one 10x10', undefined])
  })
})

describe('a stored screenshot', () => {
  let folder: string
  const rules = { update: false, inCi: false, mask: makeMask([]) }
  const check = (png: Uint8Array, more: Partial<typeof rules> = {}) =>
    checkScreenshot('pictures/home.png', png, join(folder, 'script.yaml'), { ...rules, ...more })
  const failure = async (work: Promise<unknown>): Promise<ScreenshotFailure> => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    if (!(error instanceof ScreenshotFailure)) throw new Error('the pictures were the same', { cause: error })
    return error
  }
  const stored = () => join(folder, 'pictures/home.png')

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bax-pictures-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  test('is created beside the script when it is missing', async () => {
    const { note } = await check(picture(4, 4))
    expect(note).toBe('wrote pictures/home.png')
    expect(await readFile(stored())).toEqual(picture(4, 4))
    expect((await check(picture(4, 4))).note).toBeUndefined()
  })

  test('is not created in CI, where a missing one is a failure', async () => {
    const { message, pictures } = await failure(check(picture(4, 4), { inCi: true }))
    expect(message).toBe('no stored screenshot pictures/home.png: create it with --update-snapshots')
    expect(pictures.map(({ label }) => label)).toEqual(['home-actual'])
    expect(existsSync(stored())).toBe(false)
  })

  test('is replaced with --update-snapshots, also in CI', async () => {
    await check(picture(4, 4))
    await check(picture(4, 4, 3), { update: true, inCi: true })
    expect(await readFile(stored())).toEqual(picture(4, 4, 3))
  })

  test('that differs fails with all three images', async () => {
    await check(picture(4, 4))
    const { message, pictures } = await failure(check(picture(4, 4, 4)))
    expect(message).toBe('the page differs from pictures/home.png: 4 of 16 pixels differ (25.00 %), 0 allowed')
    expect(pictures.map(({ label }) => label)).toEqual(['home-expected', 'home-actual', 'home-diff'])
  })

  test('has no secrets in its name', async () => {
    const { note } = await checkScreenshot('hush-hush.png', picture(2, 2), join(folder, 's.yaml'), {
      ...rules,
      mask: makeMask(['hush']),
    })
    expect(note).toBe('wrote xxx-xxx.png')
    expect(existsSync(join(folder, 'xxx-xxx.png'))).toBe(true)
  })
})

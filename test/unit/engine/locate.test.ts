import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { BaxError } from '../../../src/core/errors/errors.ts'
import { locateBrowser } from '../../../src/engine/browser/install/locate.ts'

const headless = { headless: true, stealth: false }
const stealth = { headless: true, stealth: true }

let folder: string
let cacheDir: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-test-locate-'))
  cacheDir = join(folder, 'cache')
  vi.stubEnv('PATH', join(folder, 'bin'))
  vi.stubEnv('PLAYWRIGHT_BROWSERS_PATH', join(folder, 'playwright'))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true, force: true })
})

async function program(...path: string[]): Promise<string> {
  const file = join(folder, ...path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, '#!/bin/sh\n')
  await chmod(file, 0o755)
  return file
}

const failure = async (call: Promise<unknown>): Promise<BaxError> =>
  call.then(() => expect.unreachable('it was found')).catch((error: unknown) => error as BaxError)

// Other systems have other places; the order is the same.
describe.skipIf(process.platform !== 'linux')('locateBrowser', () => {
  test('uses only the configured browser', async () => {
    const path = await program('mine', 'chromium')
    await program('bin', 'chromium-headless-shell')
    expect(await locateBrowser(headless, { browser: path, cacheDir })).toMatchObject({
      path,
      source: 'configured',
      kind: 'chromium',
    })
    const missing = await failure(locateBrowser(headless, { browser: `${path}-not`, cacheDir }))
    expect(missing).toMatchObject({
      code: 'browser_not_found',
      details: { looked: [{ where: `${path}-not`, found: false }] },
    })
    expect(missing.hint).toContain(`${path}-not`)
    await chmod(path, 0o644)
    expect((await failure(locateBrowser(headless, { browser: path, cacheDir }))).message).toMatch(/is not executable/)
    expect((await failure(locateBrowser(headless, { browser: folder, cacheDir }))).message).toMatch(/is not a file/)
  })

  test('uses the system’s headless shell for headless work, and a full Chromium for the rest', async () => {
    const shell = await program('bin', 'chromium-headless-shell')
    const whole = await program('bin', 'google-chrome')
    expect(await locateBrowser(headless, { cacheDir })).toMatchObject({
      path: shell,
      kind: 'headless-shell',
      source: 'system',
    })
    expect(await locateBrowser(stealth, { cacheDir })).toMatchObject({
      path: whole,
      kind: 'chromium',
      source: 'system',
    })
    expect(await locateBrowser({ headless: false, stealth: false }, { cacheDir })).toMatchObject({ path: whole })
  })

  test('uses a full Chromium for headless work when there is no headless shell', async () => {
    const whole = await program('bin', 'chromium')
    const found = await locateBrowser(headless, { cacheDir })
    expect(found).toMatchObject({ path: whole, kind: 'chromium' })
    expect(found.looked.filter(({ found: hit }) => hit)).toEqual([{ where: whole, found: true }])
    expect(found.looked.length).toBeGreaterThan(2)
  })

  test('prefers Playwright’s download to the system, and the system to the portable build', async () => {
    const unpacked = await program('cache', 'browsers', 'portable-147.0.0', 'headless-shell')
    expect(await locateBrowser(headless, { cacheDir })).toMatchObject({ path: unpacked, source: 'bax' })
    const system = await program('bin', 'chromium-headless-shell')
    expect(await locateBrowser(headless, { cacheDir })).toMatchObject({ path: system })
    const { looked } = await locateBrowser(headless, { cacheDir })
    const place = looked.find(({ where }) => where.startsWith(join(folder, 'playwright')))!.where
    const downloaded = await program(place.slice(folder.length + 1))
    expect(await locateBrowser(headless, { cacheDir })).toMatchObject({ path: downloaded, source: 'playwright' })
  })

  test('names the feature that needs a full Chromium when only the headless shell is installed', async () => {
    const shell = await program('bin', 'chromium-headless-shell')
    expect(await failure(locateBrowser(stealth, { cacheDir }))).toMatchObject({
      code: 'browser_not_found',
      message: 'no full Chromium was found; disable_automation_detection needs one',
      hint: expect.stringContaining('apt-get install -y chromium fonts-liberation'),
    })
    const windows = { headless: false, stealth: false }
    expect((await failure(locateBrowser(windows, { cacheDir }))).message).toContain('a browser window needs one')
    const configured = await failure(locateBrowser(stealth, { browser: shell, cacheDir }))
    expect(configured.message).toContain('disable_automation_detection needs a full Chromium')
  })

  test('reports the checked locations and a hint when no browser is found', async () => {
    const error = await failure(locateBrowser(headless, { cacheDir }))
    expect(error).toMatchObject({ code: 'browser_not_found', exit: 3, message: 'no Chromium was found' })
    expect(error.hint).toMatch(/bax setup[\s\S]*apt-get install[\s\S]*playwright install/)
    const { looked } = error.details as { looked: { where: string; found: boolean; note: string }[] }
    expect(looked.length).toBeGreaterThan(5)
    expect(looked.every(({ found, note }) => !found && note !== '')).toBe(true)
  })
})

/** Requirements of tests on the machine, and how titles report missing ones. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'vitest'
import { locateBrowser } from '../../src/engine/browser/install/locate.ts'

/** Returns why tests that run these programs are skipped; null if all are on the PATH. */
export function missingPrograms(...programs: string[]): string | null {
  const missing = programs.filter((name) => !isOnPath(name))
  return missing.length === 0 ? null : `${missing.join(' and ')} not installed; npm run setup installs what it can`
}

/** The reason why sessions that need a full Chromium are skipped; null if one is installed. */
export const noFullBrowser: string | null = await locateBrowser(
  { headless: true, stealth: true },
  { cacheDir: '/nonexistent' },
).then(
  () => null,
  () => 'there is no full Chromium; npm run setup installs what it can',
)

/** Returns the title, followed by the reason why it is skipped, which test/support/skip-reasons.ts prints. */
export const titled = (title: string, reason: string | null | undefined): string =>
  reason ? `${title} (skipped: ${reason})` : title

/** Returns a `test` that is skipped if there is a reason. */
export const testUnless =
  (reason: string | null) =>
  (title: string, body: () => Promise<void>): void =>
    test.skipIf(reason !== null)(titled(title, reason), body)

function isOnPath(name: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

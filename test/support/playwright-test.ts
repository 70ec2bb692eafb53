/** Runs tests with the runner of the `playwright` package, which `@playwright/test` only re-exports. */
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { locateBrowser } from '../../src/engine/browser/install/locate.ts'

const run = promisify(execFile)
const { resolve } = createRequire(import.meta.url)

/** Runs a test file of a folder in the installed browser. @throws Error with the output of a test that fails */
export async function runPlaywrightTest(
  folder: string,
  file: string,
  env: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<void> {
  const { path } = await locateBrowser({ headless: true, stealth: false }, { cacheDir: folder })
  const runner = join(folder, 'node_modules/@playwright/test')
  await mkdir(runner, { recursive: true })
  await writeFile(join(runner, 'index.js'), `module.exports = require(${JSON.stringify(resolve('playwright/test'))})`)
  const use = { launchOptions: { executablePath: path, args: ['--no-sandbox', ...flags] }, actionTimeout: 10_000 }
  const config = { testDir: '.', use, reporter: 'line', workers: 1 }
  await writeFile(join(folder, 'playwright.config.ts'), `export default ${JSON.stringify(config)}`)
  const cli = join(dirname(resolve('playwright/package.json')), 'cli.js')
  await run(process.execPath, [cli, 'test', file], { cwd: folder, env: { ...process.env, ...env } }).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => {
      throw new Error(`${stdout}${stderr}`)
    },
  )
}

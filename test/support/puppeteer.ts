/** Puppeteer, which is too large to be a package of this project for the sake of one test. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const version = '24.43.1'

/** Address of puppeteer-core as a module, installed when it is not there yet; rejects where there is no registry. */
export async function puppeteerModule(): Promise<string> {
  const folder = new URL(`../../node_modules/.cache/puppeteer-core-${version}/`, import.meta.url)
  const packageFolder = new URL('node_modules/puppeteer-core/', folder)
  if (!existsSync(new URL('package.json', packageFolder))) {
    await mkdir(folder, { recursive: true })
    const args = ['install', '--prefix', fileURLToPath(folder), '--ignore-scripts', '--no-audit', '--no-fund']
    await promisify(execFile)('npm', [...args, `puppeteer-core@${version}`])
  }
  return new URL('lib/esm/puppeteer/puppeteer-core.js', packageFolder).href
}

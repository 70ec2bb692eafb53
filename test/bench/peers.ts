/** Other tools to compare with, in pinned versions. */
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { locateBrowser } from '../../src/engine/browser/install/locate.ts'
import { run } from './measure.ts'

export const agentBrowserVersion = '0.41.2'
const playwrightCliVersion = '0.1.22'

interface Peers {
  /** Runs agent-browser's native program, without npm's launcher; returns its output. */
  agent(args: readonly string[], input?: string): Promise<string>
  readonly playwrightCli: string
  readonly playwrightConfig: string
}

/** Installs the tools into a folder. */
export async function installPeers(folder: string): Promise<Peers> {
  const packages = [`agent-browser@${agentBrowserVersion}`, `@playwright/cli@${playwrightCliVersion}`]
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await run('npm', ['install', '--prefix', folder, ...options, ...packages])
  const { path: chromium } = await locateBrowser({ headless: true, stealth: false }, { cacheDir: folder })
  const playwrightConfig = join(folder, 'playwright-cli.json')
  const launchOptions = { executablePath: chromium, args: ['--no-sandbox'], headless: true }
  await writeFile(playwrightConfig, JSON.stringify({ browser: { browserName: 'chromium', launchOptions } }))
  const name = `agent-browser-${process.platform}-${process.arch}`
  const program = join(folder, 'node_modules/agent-browser/bin', name)
  await chmod(program, 0o755)
  const env = { AGENT_BROWSER_EXECUTABLE_PATH: chromium, AGENT_BROWSER_ARGS: '--no-sandbox', HOME: folder }
  return {
    agent: (args, input) => run(program, args, env, { ...(input !== undefined && { input }) }),
    playwrightCli: join(folder, 'node_modules/.bin/playwright-cli'),
    playwrightConfig,
  }
}

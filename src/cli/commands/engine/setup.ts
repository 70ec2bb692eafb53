/** `bax setup`: installs the browsers that bax needs, and lets `bax` on the PATH start the native launcher. */
import { BaxError } from '../../../core/errors/errors.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { linkLauncher } from '../../engine/launcher-link.ts'
import { note, print } from '../../io.ts'
import { withLog } from '../../output/progress.ts'

export const command: TerminalCommand = {
  cli: 'setup',
  summary: 'Install the browsers that bax needs',
  example: ['bax setup', 'bax setup --no-full'],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) =>
      command
        .option('--full', 'fail if full Chromium cannot be installed')
        .option(
          '--no-full',
          'install only the headless shell, without browser windows and disable_automation_detection',
        ),
    )
    const { full: requested } = typed.flags
    const { io, settings } = context
    const { installBrowser } = await import('../../../engine/browser/install/install.ts')
    const { attempts, browser, full } = await withLog(io, 'installing Chromium', (line) =>
      installBrowser({
        cacheDir: settings.cacheDir,
        announce: (text) => note(io, text),
        report: line,
        signal: io.signal,
        full: requested !== false,
        proxies: settings.proxies,
      }),
    )
    const { linked, failures } = await linkLauncher(io)
    for (const link of linked) note(io, `${link} starts the native launcher now`)
    for (const failure of failures) note(io, failure)
    if (settings.json) {
      const facts = (found: typeof browser) => ({ path: found.path, kind: found.kind, source: found.source })
      print(io, JSON.stringify({ attempts, browser: facts(browser), full: full ? facts(full) : null }))
    } else {
      for (const found of new Set([browser.path, ...(full ? [full.path] : [])])) print(io, found)
    }
    if (requested !== false && !full) {
      const message = 'full Chromium could not be installed; disable_automation_detection and browser windows need it'
      const hint = 'run "apt-get install -y chromium" or "npx playwright install chromium"'
      if (requested) throw new BaxError('browser_not_found', message, { hint, details: { attempts } })
      note(io, `${message}\n${hint}`)
    }
  },
}

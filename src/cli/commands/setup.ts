/** `bax setup`: gets a Chromium onto this machine. */
import { begin, type TerminalCommand } from '../invocation.ts'
import { note, print } from '../io.ts'
import { startLog } from '../progress.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const { context, typed } = begin(invocation, (command) =>
      command.option('--full', 'a whole Chromium too, for windows and stealth'),
    )
    const { io, settings } = context
    const { installBrowser } = await import('../../engine/browser/install.ts')
    const log = await startLog(io, 'getting a browser')
    const installed = await installBrowser({
      cacheDir: settings.cacheDir,
      report: log.line,
      signal: io.signal,
      full: typed.flags['full'] === true,
    }).catch((error: unknown) => {
      log.stop()
      for (const line of log.last()) note(io, line)
      throw error
    })
    log.stop()
    const { attempts, browser, full } = installed
    if (settings.json) {
      const facts = (found: typeof browser) => ({ path: found.path, kind: found.kind, source: found.source })
      print(io, JSON.stringify({ attempts, browser: facts(browser), full: full ? facts(full) : null }))
      return 0
    }
    for (const found of new Set([browser.path, ...(full ? [full.path] : [])])) print(io, found)
    if (typed.flags['full'] && !full) note(io, 'no whole Chromium could be had; windows and stealth need one')
    return 0
  },
}

/** `bax record` in tests, driven by a Playwright client on the recorded session. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { type Browser, chromium, type Page } from 'playwright'
import { bax, type CliResult } from './cli.ts'
import type { Homes } from './homes.ts'
import { neverMs, waitFor } from './wait.ts'

export interface Recorded {
  readonly sessionId: string
  /** The page that is recorded; its input is trusted, like that of a person. */
  readonly page: Page
  /** Everything printed to standard error so far. */
  errors(): string
  /** Types keys in the terminal. */
  keys(text: string): void
  /** Returns the script as it is in the file now. */
  script(): Promise<string>
  /** Waits until the script contains a text. */
  contains(text: string): Promise<string>
  /** Ends the recording with the key `q`. */
  end(): Promise<CliResult>
}

/** Records a session of its own, or with `-s` in the flags an existing one; replays it at the end only with `--verify`. */
export async function startRecording(
  homes: Homes,
  folder: string,
  argv: readonly string[],
  file = 'flow.yaml',
  env: Readonly<Record<string, string>> = {},
): Promise<Recorded> {
  const stdin = new PassThrough({ encoding: 'utf8' })
  let stderr = ''
  const before = new Set((await homes.clients.http.listSessions({})).sessions.map(({ session_id }) => session_id))
  const ended = bax(['record', ...argv, ...(argv.includes('--verify') ? [] : ['--no-verify']), '-o', file], {
    cwd: folder,
    env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: homes.stateDir, ...env },
    stdin,
    onError: (text) => (stderr += text),
  })
  const early = ended.then(({ code, stderr: text }) => {
    throw new Error(`bax record ended with ${code}: ${text}`)
  })
  const started = waitFor('the recording', () => stderr.includes('\nrecording (') || stderr.startsWith('recording ('))
  await Promise.race([started, early])
  // It rejects at the end of every recording.
  early.catch(() => {})
  const named = argv.includes('-s') ? argv[argv.indexOf('-s') + 1] : undefined
  const { sessions } = await homes.clients.http.listSessions({})
  const session = sessions.find(({ session_id, name }) => (named ? named === name : !before.has(session_id)))!
  const { browser, page } = await connectToSession(homes, session.session_id)
  const script = () => readFile(join(folder, file), 'utf8')
  return {
    sessionId: session.session_id,
    page,
    errors: () => stderr,
    keys: (text) => void stdin.write(text),
    script,
    async contains(text) {
      await waitFor(`${JSON.stringify(text)} in the script`, async () => (await script()).includes(text))
      return script()
    },
    async end() {
      stdin.write('q')
      const result = await ended
      await browser.close()
      return result
    },
  }
}

/** Connects to a session; input through the page is trusted, like that of a person. */
export async function connectToSession(homes: Homes, session_id: string): Promise<{ browser: Browser; page: Page }> {
  const { webSocketDebuggerUrl } = await homes.clients.http.cdpVersion({ session_id })
  const browser = await chromium.connectOverCDP(webSocketDebuggerUrl, { timeout: 0 })
  const [context] = browser.contexts()
  context!.setDefaultTimeout(neverMs)
  return { browser, page: context!.pages()[0]! }
}

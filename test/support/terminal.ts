/** A real terminal (tmux) that runs the built program. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { type BuiltBax, buildBax } from './cli.ts'
import { missingPrograms, testUnless } from './needs.ts'
import { noConfig } from './no-config.ts'
import { serveSite, type Site } from './site.ts'

export const terminalTest = testUnless(missingPrograms('tmux'))

/** A real terminal that runs a shell. */
class Terminal {
  readonly #name = `bax-test-${randomBytes(4).toString('hex')}`

  constructor(columns: number, rows: number) {
    this.#tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), 'env', 'PS1=ready$ ', 'bash', '--norc')
  }

  #tmux(...argv: string[]): string {
    return execFileSync('tmux', ['-L', this.#name, '-f', '/dev/null', ...argv], { encoding: 'utf8' })
  }

  press(...keys: string[]): void {
    this.#tmux('send-keys', ...keys)
  }

  type(text: string): void {
    this.#tmux('send-keys', '-l', text)
  }

  run(line: string): void {
    this.type(line)
    this.press('Enter')
  }

  text(styled = false): string {
    return this.#tmux('capture-pane', '-p', ...(styled ? ['-e'] : []))
  }

  /** Returns the process ID of the shell's child. */
  pid(): number {
    const shell = this.#tmux('display-message', '-p', '#{pane_pid}').trim()
    return Number(readFileSync(`/proc/${shell}/task/${shell}/children`, 'utf8').trim().split(' ')[0])
  }

  resize(columns: number, rows: number): void {
    this.#tmux('resize-window', '-x', String(columns), '-y', String(rows))
  }

  async shows(expected: string | RegExp): Promise<string> {
    await expect.poll(() => this.text()).toMatch(expected)
    return this.text()
  }

  /** Checks the terminal with stty, which shows whether a program has left it raw. */
  async expectCookedMode(): Promise<void> {
    await this.shows(/^ready\$ *$/m)
    this.run('stty -a | grep -o -E " -?(icanon|echo|isig|opost)\\b" | tr -d "\\n"; echo " checked"')
    expect(await this.shows(/icanon.* checked/)).not.toMatch(/-(?:icanon|echo|isig|opost)\b.* checked/)
  }

  close(): void {
    this.#tmux('kill-server')
  }
}

/** Sets up a build, a site and a state folder for each test; closes the terminal that a test opens. */
export function terminals() {
  let built: BuiltBax
  let site: Site
  let stateDir: string
  let terminal: Terminal
  beforeAll(async () => {
    built = await buildBax()
    site = await serveSite({
      '/': '<title>Shop</title><button id="buy" onclick="this.textContent=`Sold`">Buy</button>',
    })
  })
  beforeEach(async () => {
    stateDir = await built.stateDir()
  })
  afterAll(async () => {
    await built.close()
    await site.close()
  })
  afterEach(() => terminal.close())
  return {
    get built() {
      return built
    },
    get site() {
      return site
    },
    get stateDir() {
      return stateDir
    },
    /** Opens the terminal of a test. */
    open: (columns: number, rows: number) => (terminal = new Terminal(columns, rows)),
    /** Returns a command line that starts the TUI. */
    tui: (env = '') => `${env} BAX_CONFIG=${noConfig} ${process.execPath} ${built.program} tui --state-dir ${stateDir}`,
  }
}

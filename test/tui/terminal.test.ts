import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest'
import { recordCommandLine } from '../support/calls.ts'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { noConfig } from '../support/no-config.ts'
import { missingPrograms, testUnless } from '../support/needs.ts'
import { startFleet } from '../support/fleet.ts'
import { noRedis } from '../support/redis.ts'
import { serveSite, type Site } from '../support/site.ts'

/** Time in which a loaded machine starts an engine and a browser, in milliseconds. */
const timeoutMs = 30_000

const terminalTest = testUnless(missingPrograms('tmux'))

let built: BuiltBax
let site: Site
let stateDir: string
let terminal: Terminal

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
    await expect.poll(() => this.text(), { timeout: timeoutMs }).toMatch(expected)
    return this.text()
  }

  close(): void {
    this.#tmux('kill-server')
  }
}

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

const tui = (env = '') =>
  `${env} BAX_CONFIG=${noConfig} ${process.execPath} ${built.program} tui --state-dir ${stateDir}`

/** Checks the terminal with stty, which shows whether a program has left it raw. */
async function expectCookedMode(): Promise<void> {
  await terminal.shows(/^ready\$ *$/m)
  terminal.run('stty -a | grep -o -E " -?(icanon|echo|isig|opost)\\b" | tr -d "\\n"; echo " checked"')
  expect(await terminal.shows(/icanon.* checked/)).not.toMatch(/-(?:icanon|echo|isig|opost)\b.* checked/)
}

terminalTest('creates, drives, shows, records and closes a session, and replays the recording', async () => {
  terminal = new Terminal(100, 30)
  terminal.run(tui())
  await terminal.shows('no sessions; press c to create one')
  terminal.press('c')
  await terminal.shows('start page')
  terminal.run(site.url)
  await terminal.shows('Shop — http')
  terminal.press('Enter')
  await terminal.shows('▀▀▀▀▀▀▀▀')
  terminal.press('r')
  await terminal.shows('recording 0')
  terminal.press('i')
  terminal.run("click '#buy' then get-text '#buy'")
  await terminal.shows(/✓ click[\s\S]* Sold/)
  terminal.press('Escape')
  await terminal.shows('press i to type a command')
  terminal.press('r')
  await terminal.shows('save the recording to')
  terminal.press('C-u')
  const file = join(stateDir, 'recorded.yaml')
  terminal.run(file)
  await terminal.shows('saved to')
  expect(await readFile(file, 'utf8')).toContain('click: "#buy"')
  terminal.press('Escape')
  await terminal.shows('1 session')
  terminal.press('x')
  await terminal.shows(/Close ses_.*\?/)
  terminal.press('y')
  await terminal.shows('no sessions; press c to create one')
  terminal.press('q')
  await expectCookedMode()
  await recordCommandLine(['tui'])
  const ran = await built.run(['run', file, '--state-dir', stateDir])
  expect(ran.stdout + ran.stderr).toContain('1 passed')
})

terminalTest('approves and rejects actions that wait', async () => {
  const state = ['--state-dir', stateDir]
  const created = await built.run(['session', 'create', '--start-url', site.url, '--confirm', 'eval', ...state])
  const evaluate = (script: string) => built.run(['eval', script, '-s', created.stdout.trim(), ...state])
  terminal = new Terminal(100, 30)
  terminal.run(tui())
  await terminal.shows('1 session')
  terminal.press('6')
  const approved = evaluate('document.title')
  await terminal.shows('1 waiting; press Enter to read one')
  terminal.press('Enter')
  await terminal.shows(/Approve this\?[\s\S]*document\.title/)
  terminal.press('a')
  await terminal.shows('approved: eval')
  expect(await approved).toMatchObject({ code: 0, stdout: 'Shop\n' })
  const rejected = evaluate('document.body.remove()')
  await terminal.shows('1 waiting; press Enter to read one')
  terminal.press('Enter')
  await terminal.shows(/Approve this\?[\s\S]*document\.body/)
  terminal.press('x')
  await terminal.shows('rejected: eval')
  const { code, stderr } = await rejected
  expect(code).not.toBe(0)
  expect(stderr).toContain('rejected')
  await terminal.shows('0 waiting')
  terminal.press('q')
  await expectCookedMode()
})

describe('restores the terminal', () => {
  terminalTest('after ^C, including the previous screen', async () => {
    terminal = new Terminal(80, 24)
    // What is typed before the shell is ready would stand between the words.
    terminal.run("clear; printf 'previous %s\\n' content")
    await terminal.shows('previous content')
    terminal.run(tui())
    await terminal.shows('no sessions')
    terminal.press('C-c')
    await terminal.shows('previous content')
    await expectCookedMode()
  })

  terminalTest('after SIGTERM', async () => {
    terminal = new Terminal(80, 24)
    terminal.run(`${tui()}; echo ended $?`)
    await terminal.shows('no sessions')
    process.kill(terminal.pid(), 'SIGTERM')
    await terminal.shows('ended 143')
    await expectCookedMode()
  })

  terminalTest('while it is suspended with ^Z, and continues on the same screen', async () => {
    terminal = new Terminal(80, 24)
    terminal.run(tui())
    await terminal.shows('no sessions')
    terminal.press('5')
    await terminal.shows('without its browsers')
    terminal.press('C-z')
    await terminal.shows('Stopped')
    await expectCookedMode()
    terminal.run('fg')
    await terminal.shows('without its browsers')
    terminal.resize(120, 40)
    await terminal.shows(/6 Approvals {20,}.*connected/)
    terminal.press('q')
    await expectCookedMode()
  })
})

terminalTest('restarts a killed engine, and restarts a stopped one only on request', async () => {
  terminal = new Terminal(80, 24)
  terminal.run(tui())
  await terminal.shows('no sessions')
  const { pid } = JSON.parse(await readFile(join(stateDir, 'engine.json'), 'utf8')) as { pid: number }
  process.kill(pid, 'SIGKILL')
  await terminal.shows(/reconnecting|the engine is unreachable/)
  await terminal.shows('● connected')
  expect((JSON.parse(await readFile(join(stateDir, 'engine.json'), 'utf8')) as { pid: number }).pid).not.toBe(pid)
  await built.run(['engine', 'stop', '--state-dir', stateDir])
  await terminal.shows('the engine was stopped; press R to start it')
  terminal.press('R')
  await terminal.shows('● connected')
  terminal.press('C-c')
  await expectCookedMode()
})

testUnless(missingPrograms('tmux') ?? noRedis)('shows the workers of a gateway, and drains one', async () => {
  const fleet = await startFleet()
  try {
    terminal = new Terminal(80, 24)
    terminal.run(`${tui()} --server ${fleet.gateway.url}`)
    await terminal.shows(/7 Fleet ● connected/)
    terminal.press('7')
    await terminal.shows('2 workers; scaler: none')
    await terminal.shows(/provisions +0/)
    terminal.press('x')
    await terminal.shows(`Drain ${fleet.workers[0]!.id}?`)
    terminal.press('y')
    await terminal.shows('2 workers, 1 draining')
    terminal.press('q')
    await expectCookedMode()
  } finally {
    await fleet.close()
  }
})

terminalTest('respects NO_COLOR, and still marks the selected row', async () => {
  terminal = new Terminal(80, 24)
  const created = await built.run(['session', 'create', '--start-url', site.url, '--state-dir', stateDir])
  terminal.run(tui('NO_COLOR=1'))
  await terminal.shows('› ses_')
  expect(terminal.text(true)).not.toMatch(/\u001B\[[\d;]*(?:3[0-8]|4[0-8])(?:;[\d;]*)?m/)
  terminal.press('Enter')
  await terminal.shows(/[@%#]{20}/)
  expect(terminal.text(true)).not.toMatch(/\u001B\[[\d;]*(?:3[0-8]|4[0-8])(?:;[\d;]*)?m/)
  terminal.press('C-c')
  await expectCookedMode()
  await built.run(['session', 'close', created.stdout.trim(), '--state-dir', stateDir])
})

terminalTest('exits with 2 without a terminal', async () => {
  terminal = new Terminal(80, 24)
  const ran = await built.run(['tui', '--state-dir', stateDir])
  expect(ran.code).toBe(2)
  expect(ran.stderr).toContain('standard input or output is not a terminal')
})

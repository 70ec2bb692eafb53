/** Approvals, signals, lost engines, gateways and colours of the terminal UI in a real terminal. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { startFleet } from '../support/fleet.ts'
import { missingPrograms, testUnless } from '../support/needs.ts'
import { noRedis } from '../support/redis.ts'
import { terminals, terminalTest } from '../support/terminal.ts'

const given = terminals()

terminalTest('approves and rejects actions that wait', async () => {
  const state = ['--state-dir', given.stateDir]
  const created = await given.built.run([
    'session',
    'create',
    '--start-url',
    given.site.url,
    '--confirm',
    'eval',
    ...state,
  ])
  const evaluate = (script: string) => given.built.run(['eval', script, '-s', created.stdout.trim(), ...state])
  const terminal = given.open(100, 30)
  terminal.run(given.tui())
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
  await terminal.expectCookedMode()
})

describe('restores the terminal', () => {
  terminalTest('after SIGTERM', async () => {
    const terminal = given.open(80, 24)
    terminal.run(`${given.tui()}; echo ended $?`)
    await terminal.shows('no sessions')
    process.kill(terminal.pid(), 'SIGTERM')
    await terminal.shows('ended 143')
    await terminal.expectCookedMode()
  })

  terminalTest('while it is suspended with ^Z, and continues on the same screen', async () => {
    const terminal = given.open(80, 24)
    terminal.run(given.tui())
    await terminal.shows('no sessions')
    terminal.press('5')
    await terminal.shows('without its browsers')
    terminal.press('C-z')
    await terminal.shows('Stopped')
    await terminal.expectCookedMode()
    terminal.run('fg')
    await terminal.shows('without its browsers')
    terminal.resize(120, 40)
    await terminal.shows(/6 Inbox {20,}.*connected/)
    terminal.press('q')
    await terminal.expectCookedMode()
  })
})

terminalTest('restarts a killed engine, and restarts a stopped one only on request', async () => {
  const terminal = given.open(80, 24)
  terminal.run(given.tui())
  await terminal.shows('no sessions')
  const { pid } = JSON.parse(await readFile(join(given.stateDir, 'engine.json'), 'utf8')) as { pid: number }
  process.kill(pid, 'SIGKILL')
  await terminal.shows(/reconnecting|the engine is unreachable/)
  await terminal.shows('● connected')
  expect((JSON.parse(await readFile(join(given.stateDir, 'engine.json'), 'utf8')) as { pid: number }).pid).not.toBe(pid)
  await given.built.run(['engine', 'stop', '--state-dir', given.stateDir])
  await terminal.shows('the engine was stopped; press R to start it')
  terminal.press('R')
  await terminal.shows('● connected')
  terminal.press('C-c')
  await terminal.expectCookedMode()
})

testUnless(missingPrograms('tmux') ?? noRedis)('shows the workers of a gateway, and drains one', async () => {
  const fleet = await startFleet()
  try {
    const terminal = given.open(80, 24)
    terminal.run(`${given.tui()} --server ${fleet.gateway.url}`)
    await terminal.shows(/7 Fleet +● connected/)
    terminal.press('7')
    await terminal.shows('2 workers; scaler: none')
    await terminal.shows(/provisions +0/)
    terminal.press('x')
    await terminal.shows(`Drain ${fleet.workers[0]!.id}?`)
    terminal.press('y')
    await terminal.shows('2 workers, 1 draining')
    terminal.press('q')
    await terminal.expectCookedMode()
  } finally {
    await fleet.close()
  }
})

terminalTest('respects NO_COLOR, and still marks the selected row', async () => {
  const terminal = given.open(80, 24)
  const created = await given.built.run([
    'session',
    'create',
    '--start-url',
    given.site.url,
    '--state-dir',
    given.stateDir,
  ])
  terminal.run(given.tui('NO_COLOR=1'))
  await terminal.shows('› ses_')
  expect(terminal.text(true)).not.toMatch(/\u001B\[[\d;]*(?:3[0-8]|4[0-8])(?:;[\d;]*)?m/)
  terminal.press('Enter')
  await terminal.shows(/[@%#]{20}/)
  expect(terminal.text(true)).not.toMatch(/\u001B\[[\d;]*(?:3[0-8]|4[0-8])(?:;[\d;]*)?m/)
  terminal.press('C-c')
  await terminal.expectCookedMode()
  await given.built.run(['session', 'close', created.stdout.trim(), '--state-dir', given.stateDir])
})

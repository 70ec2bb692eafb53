import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { recordCommandLine } from '../support/calls.ts'
import { terminals, terminalTest } from '../support/terminal.ts'

const given = terminals()

terminalTest('creates, drives, shows, records and closes a session, and replays the recording', async () => {
  const terminal = given.open(100, 30)
  terminal.run(given.tui())
  await terminal.shows('no sessions; press c to create one')
  terminal.press('c')
  await terminal.shows('start page')
  terminal.run(given.site.url)
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
  const file = join(given.stateDir, 'recorded.yaml')
  terminal.run(file)
  await terminal.shows('saved to')
  expect(await readFile(file, 'utf8')).toContain('click: "#buy"')
  terminal.press('Escape')
  // An event of the session at second 1, as in `12:00:01 session.status`, contains the same words.
  await terminal.shows(/^ 1 session *$/m)
  terminal.press('x')
  await terminal.shows(/Close ses_.*\?/)
  terminal.press('y')
  await terminal.shows('no sessions; press c to create one')
  terminal.press('q')
  await terminal.expectCookedMode()
  await recordCommandLine(['tui'])
  const ran = await given.built.run(['run', file, '--state-dir', given.stateDir])
  expect(ran.stdout + ran.stderr).toContain('1 passed')
})

terminalTest('restores the terminal after ^C, including the previous screen', async () => {
  const terminal = given.open(80, 24)
  // Split, because the terminal also shows the typed command.
  terminal.run("clear; printf 'previous %s\\n' content")
  await terminal.shows('previous content')
  terminal.run(given.tui())
  await terminal.shows('no sessions')
  terminal.press('C-c')
  await terminal.shows('previous content')
  await terminal.expectCookedMode()
})

terminalTest('exits with 2 without a terminal', async () => {
  given.open(80, 24)
  const ran = await given.built.run(['tui', '--state-dir', given.stateDir])
  expect(ran.code).toBe(2)
  expect(ran.stderr).toContain('standard input or output is not a terminal')
})

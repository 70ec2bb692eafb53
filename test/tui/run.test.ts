import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { JobControl } from '../../src/core/process/job-control.ts'
import { makeManifest } from '../../src/operations/manifest.ts'
import type { Desk } from '../../src/tui/desk.ts'
import { runTui } from '../../src/tui/run.tsx'

/** A terminal that remembers what it was told, and whether it is raw. */
function openTerminal() {
  const written: string[] = []
  const state = { raw: false }
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (raw: boolean) => (state.raw = raw),
    ref: () => {},
    unref: () => {},
  })
  const stdout = Object.assign(new EventEmitter(), {
    isTTY: true,
    columns: 80,
    rows: 24,
    write: (chunk: string) => written.push(chunk) > 0,
  })
  return { state, stdin, stdout, written: () => written.join('') }
}

/** A process whose fate is in the hands of the test. */
function openJob() {
  const events = new EventEmitter()
  const hear = (name: string) => (listener: (fact: unknown) => void) => {
    events.on(name, listener)
    return () => void events.off(name, listener)
  }
  const stopped: boolean[] = []
  const job: JobControl = {
    stop: () => void stopped.push(true),
    onContinue: hear('continue'),
    onStopRequest: hear('stop'),
    onCrash: hear('crash'),
    onExit: hear('exit'),
  }
  return { job, events, stopped }
}

function open() {
  const terminal = openTerminal()
  const { job, events, stopped } = openJob()
  const interrupted = new AbortController()
  const nobody = {
    send: async () => {
      throw new Error('nothing answers')
    },
    close: async () => {},
  }
  const desk: Desk = {
    terminal: { stdin: terminal.stdin as never, stdout: terminal.stdout as never, env: { TERM: 'xterm-256color' } },
    job,
    signal: interrupted.signal,
    manifest: makeManifest(),
    home: { kind: 'server', name: 'test' },
    begin: nobody,
    join: nobody,
    fate: () => 'lost',
    cwd: '/',
    historyFile: '/nonexistent/history',
    parse: () => ({ commands: [], run: async () => ({ success: true, text: '' }) }),
    script: async () => '',
    child: null,
    logFile: null,
  }
  return { terminal, events, stopped, interrupted, running: runTui(desk) }
}

const leaves = '\u001B[?25h\u001B[?1049l'

test('a crash hands the terminal back first, and is told after that', async () => {
  const { terminal, events, running } = open()
  expect(terminal.state.raw).toBe(true)
  expect(terminal.written()).toContain('\u001B[?1049h')
  events.emit('crash', new Error('a fault of ours'))
  await expect(running).rejects.toThrow('a fault of ours')
  expect(terminal.state.raw).toBe(false)
  expect(terminal.written().endsWith(leaves)).toBe(true)
  expect(events.eventNames()).toEqual([])
})

test('an end that nobody has seen coming hands it back, too', async () => {
  const { terminal, events, interrupted, running } = open()
  events.emit('exit')
  expect(terminal.written().endsWith(leaves)).toBe(true)
  expect(terminal.state.raw).toBe(false)
  interrupted.abort('SIGTERM')
  await running
})

test('^Z hands it back, stops the job, and takes it again when that goes on', async () => {
  const { terminal, events, stopped, interrupted, running } = open()
  terminal.stdin.write('\u001A')
  await expect.poll(() => stopped).toEqual([true])
  expect(terminal.written().endsWith(leaves)).toBe(true)
  events.emit('continue')
  expect(terminal.state.raw).toBe(true)
  expect(terminal.written().lastIndexOf('\u001B[?1049h')).toBeGreaterThan(terminal.written().lastIndexOf(leaves))
  interrupted.abort('SIGINT')
  await running
  expect(terminal.written().endsWith(leaves)).toBe(true)
})

test('what a terminal answers to questions is no key', async () => {
  const { terminal, interrupted, running } = open()
  expect(terminal.written()).toContain('\u001B[c')
  // In pieces, as a slow line brings them; as keys, some of these would make a session or leave.
  terminal.stdin.write('\u001B_Gi=31;OK\u001B\\\u001B[6;20;10t\u001B[?62;')
  terminal.stdin.write('4c')
  terminal.stdin.write('?')
  await expect.poll(terminal.written).toContain('close the help')
  interrupted.abort('SIGINT')
  await running
})

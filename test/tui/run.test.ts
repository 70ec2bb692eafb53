import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { JobControl } from '../../src/core/process/job-control.ts'
import { makeManifest } from '../../src/operations/manifest.ts'
import type { TuiHost } from '../../src/tui/host.ts'
import { runTui } from '../../src/tui/run.tsx'

/** A fake terminal that records its output and whether it is raw. */
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

/** A fake job whose events the test emits. */
function openJob() {
  const events = new EventEmitter()
  const on = (name: string) => (listener: (fact: unknown) => void) => {
    events.on(name, listener)
    return () => void events.off(name, listener)
  }
  const stopped: boolean[] = []
  const job: JobControl = {
    stop: () => void stopped.push(true),
    onContinue: on('continue'),
    onStopRequest: on('stop'),
    onCrash: on('crash'),
    onExit: on('exit'),
  }
  return { job, events, stopped }
}

function open() {
  const terminal = openTerminal()
  const { job, events, stopped } = openJob()
  const interrupted = new AbortController()
  const unreachable = {
    send: async () => {
      throw new Error('connection refused')
    },
    close: async () => {},
  }
  const host: TuiHost = {
    terminal: { stdin: terminal.stdin as never, stdout: terminal.stdout as never, env: { TERM: 'xterm-256color' } },
    job,
    signal: interrupted.signal,
    manifest: makeManifest(),
    home: { kind: 'server', name: 'test' },
    startingTransport: unreachable,
    transport: unreachable,
    whyUnreachable: () => 'lost',
    cwd: '/',
    historyFile: '/nonexistent/history',
    parse: () => ({ commands: [], run: async () => ({ success: true, text: '' }) }),
    script: async () => '',
    runBax: null,
    logFile: null,
  }
  return { terminal, events, stopped, interrupted, running: runTui(host) }
}

const restored = '\u001B[?25h\u001B[?1049l'

test('restores the terminal before it reports a crash', async () => {
  const { terminal, events, running } = open()
  expect(terminal.state.raw).toBe(true)
  expect(terminal.written()).toContain('\u001B[?1049h')
  events.emit('crash', new Error('an internal error'))
  await expect(running).rejects.toThrow('an internal error')
  expect(terminal.state.raw).toBe(false)
  expect(terminal.written().endsWith(restored)).toBe(true)
  expect(events.eventNames()).toEqual([])
})

test('restores the terminal when the process exits', async () => {
  const { terminal, events, interrupted, running } = open()
  events.emit('exit')
  expect(terminal.written().endsWith(restored)).toBe(true)
  expect(terminal.state.raw).toBe(false)
  interrupted.abort('SIGTERM')
  await running
})

test('restores the terminal and stops the job on ^Z, and opens it again when the job continues', async () => {
  const { terminal, events, stopped, interrupted, running } = open()
  terminal.stdin.write('\u001A')
  await expect.poll(() => stopped).toEqual([true])
  expect(terminal.written().endsWith(restored)).toBe(true)
  events.emit('continue')
  expect(terminal.state.raw).toBe(true)
  expect(terminal.written().lastIndexOf('\u001B[?1049h')).toBeGreaterThan(terminal.written().lastIndexOf(restored))
  interrupted.abort('SIGINT')
  await running
  expect(terminal.written().endsWith(restored)).toBe(true)
})

test('does not handle replies of the terminal as keys', async () => {
  const { terminal, interrupted, running } = open()
  expect(terminal.written()).toContain('\u001B[c')
  // In pieces, like over a slow connection. As keys, some of these would create a session or quit.
  terminal.stdin.write('\u001B_Gi=31;OK\u001B\\\u001B[6;20;10t\u001B[?62;')
  terminal.stdin.write('4c')
  terminal.stdin.write('?')
  await expect.poll(terminal.written).toContain('close the help')
  interrupted.abort('SIGINT')
  await running
})

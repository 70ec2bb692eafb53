/** Cost of the terminal UI: its first frame compared with ink's own hello world, and CPU time while idle. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pty, { type IPty } from '@lydell/node-pty'
import { inTurn, ms, msTitle, ratio, type Row, run, type Table, treeMemory, treeOf } from './measure.ts'

/** Idle time, in milliseconds. */
const idleMs = 30_000

const hello = `import {createElement} from 'react'
import {render, Text} from 'ink'
render(createElement(Text, {color: 'green'}, 'Hello World'))
setInterval(() => {}, 1000)
`

export async function measure(): Promise<Table[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bax-bench-'))
  // Next to the packages that it imports.
  const program = resolve('node_modules', `.bax-hello-${process.pid}.mjs`)
  await writeFile(program, hello)
  const env = { BAX_STATE_DIR: join(folder, 'state') }
  const argv = ['dist/main.js', 'tui']
  try {
    // A running engine: only the UI is measured.
    await run(process.execPath, ['dist/main.js', 'session', 'create'], env)
    const times = await inTurn(
      {
        "ink's hello world": () => firstPaint([program], env, 'Hello World'),
        'bax tui': () => firstPaint(argv, env, 'Sessions'),
      },
      10,
    )
    const rows = Object.entries(times).map(([name, time]): Row => ({
      name,
      cells: [ms(time), ratio(time, times["ink's hello world"]!, name === 'bax tui' ? 2 : undefined)],
    }))
    return [
      { title: 'First picture of the terminal UI', columns: [msTitle, 'to hello world'], rows },
      await idle(argv, env),
    ]
  } finally {
    await run(process.execPath, ['dist/main.js', 'engine', 'stop'], env)
    await rm(program, { force: true })
    await rm(folder, { recursive: true, force: true })
  }
}

const start = (argv: readonly string[], env: Record<string, string>): IPty =>
  pty.spawn(process.execPath, [...argv], {
    cols: 120,
    rows: 40,
    env: { ...process.env, TERM: 'xterm-256color', ...env },
  })

/** Resolves when the terminal shows the text; ends the program. */
async function firstPaint(argv: readonly string[], env: Record<string, string>, wanted: string): Promise<void> {
  const program = start(argv, env)
  await waitForText(program, wanted)
  const ended = new Promise((done) => program.onExit(done))
  program.kill('SIGKILL')
  await ended
}

async function waitForText(program: IPty, wanted: string): Promise<void> {
  let text = ''
  await new Promise<void>((done, fail) => {
    program.onData((chunk) => {
      text += chunk
      if (text.includes(wanted)) done()
    })
    program.onExit(() => fail(new Error(`ended without printing ${wanted}: ${text}`)))
  })
}

/** Returns the CPU time of a process, in milliseconds. */
const cpuOf = (pid: number): number => treeOf(pid)[0]?.cpuMs ?? 0

async function idle(argv: readonly string[], env: Record<string, string>): Promise<Table> {
  const program = start(argv, env)
  // The caller reports its exit.
  await waitForText(program, 'connected')
  await pause(5000)
  const before = cpuOf(program.pid)
  await pause(idleMs)
  const share = ((cpuOf(program.pid) - before) / idleMs) * 100
  const megabytes = treeMemory(program.pid)
  program.kill('SIGTERM')
  const held = (value: number, most: number) => (value <= most ? `at most ${most}` : `at most ${most}, MISSED`)
  return {
    title: 'The terminal UI while nobody does anything',
    columns: ['', 'bound'],
    rows: [
      { name: '% of one core', cells: [share.toFixed(2), held(share, 2)] },
      { name: 'MB (PSS)', cells: [megabytes.toFixed(0), held(megabytes, 120)] },
    ],
    note: `A list of sessions on screen for ${idleMs / 1000} s.`,
  }
}

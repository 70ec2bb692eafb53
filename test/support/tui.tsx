/** The terminal UI without a terminal: accepts keys, and returns what would be shown. */
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import chalk from 'chalk'
import { render } from 'ink'
import { expect } from 'vitest'
import { readLine, writeScript } from '../../src/cli/tui/line.ts'
import { callsOf } from '../../src/client/calls.ts'
import type { Transport } from '../../src/client/transport.ts'
import type { Manifest } from '../../src/operations/manifest.ts'
import { App } from '../../src/tui/app.tsx'
import type { TuiHost } from '../../src/tui/host.ts'
import { Keyboard } from '../../src/tui/keyboard.ts'
import { Link } from '../../src/tui/link.ts'
import { Mouse } from '../../src/tui/mouse.ts'
import { textGraphics } from '../../src/tui/image/graphics.ts'
import { Screen } from '../../src/tui/terminal/screen.ts'

export interface OpenTui {
  /** Returns the screen as text, without colours. */
  readonly text: () => string
  /** Presses keys, named and separated by spaces: `down enter ctrl+u`. */
  readonly press: (keys: string) => void
  readonly type: (text: string) => void
  /** Clicks a cell, counted from the upper left corner. */
  readonly click: (x: number, y: number) => void
  /** Resolves with the screen once it contains the text. */
  readonly waitForText: (wanted: string | RegExp) => Promise<string>
  readonly resize: (columns: number, rows: number) => void
  /** Returns all output to the terminal, including escape sequences. */
  readonly output: () => string
  readonly close: () => void
}

interface TuiOptions {
  readonly transport: Transport
  readonly manifest: Manifest
  readonly stateDir: string
  readonly columns?: number
  readonly rows?: number
}

const codes: Record<string, string> = {
  up: '\u001B[A',
  down: '\u001B[B',
  right: '\u001B[C',
  left: '\u001B[D',
  enter: '\r',
  escape: '\u001B',
  tab: '\t',
  backspace: '\u007F',
}

/** Timeout for output on a busy machine. */
const timeoutMs = 20_000

class Output extends EventEmitter {
  readonly isTTY = true
  columns: number
  rows: number
  text = ''
  constructor(columns: number, rows: number) {
    super()
    this.columns = columns
    this.rows = rows
  }
  write(chunk: string): boolean {
    this.text += chunk
    return true
  }
}

class Keys extends EventEmitter {
  readonly isTTY = true
  #waiting: string[] = []
  read = () => this.#waiting.shift() ?? null
  setEncoding = () => this
  setRawMode = () => this
  ref = () => this
  unref = () => this
  send(text: string): void {
    this.#waiting.push(text)
    this.emit('readable')
  }
}

export function openTui({ transport, manifest, stateDir, columns = 80, rows = 24 }: TuiOptions): OpenTui {
  const out = new Output(columns, rows)
  const stdin = new Keys()
  const screen = new Screen(out as never)
  let frame = ''
  const write = screen.write.bind(screen)
  screen.write = (chunk, done) => {
    if (chunk.length > 0) frame = String(chunk)
    return write(chunk, done)
  }
  const host = hostOf({ transport, manifest, stateDir }, out, stdin)
  const link = new Link(host)
  const mouse = new Mouse()
  chalk.level = 3
  screen.open()
  const ink = render(
    <App
      host={host}
      link={link}
      keyboard={new Keyboard()}
      mouse={mouse}
      screen={screen}
      graphics={textGraphics(3)}
      suspend={(work) => work()}
      quit={() => {}}
    />,
    { stdout: screen as never, stdin: stdin as never, debug: true, exitOnCtrlC: false, patchConsole: false },
  )
  link.open()
  const text = () => stripVTControlCharacters(frame)
  return {
    text,
    output: () => out.text,
    press(keys) {
      for (const name of keys.split(' '))
        stdin.send(codes[name] ?? (name.startsWith('ctrl+') ? String.fromCharCode(name.charCodeAt(5) - 96) : name))
    },
    type: (typed) => stdin.send(typed),
    click: (x, y) => mouse.handle({ x, y, kind: 'press' }),
    async waitForText(wanted) {
      await expect.poll(text, { timeout: timeoutMs }).toMatch(wanted)
      return text()
    },
    resize(columns, rows) {
      Object.assign(out, { columns, rows })
      out.emit('resize')
    },
    close() {
      screen.close()
      ink.unmount()
      link.close()
    },
  }
}

function hostOf({ transport, manifest, stateDir }: TuiOptions, out: Output, stdin: Keys): TuiHost {
  const io = {
    stdin: stdin as never,
    stdout: out,
    stderr: out,
    env: {},
    cwd: stateDir,
    signal: new AbortController().signal,
    host: {} as never,
  }
  const settings = { stateDir, json: false } as never
  return {
    terminal: { stdin: stdin as never, stdout: out as never, env: {} },
    signal: io.signal,
    manifest,
    home: { kind: 'server', name: 'test' },
    startingTransport: transport,
    transport,
    whyUnreachable: () => 'lost',
    cwd: stateDir,
    historyFile: join(stateDir, 'tui-history'),
    parse: (words) =>
      readLine(
        words,
        { io, manifest, settings },
        { kind: 'server', name: 'test', transport, ...callsOf(transport, manifest.operations) },
      ),
    script: (commands, facts) => writeScript(commands, facts, manifest),
    runBax: null,
    logFile: null,
  }
}

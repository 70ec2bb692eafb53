/** Runs a command of a session in this terminal: forwards keys and the terminal size. */
import { spawnSync } from 'node:child_process'
import { uncheckedFields } from '../../client/calls.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { Io } from '../io.ts'
import { type Ended, type FramesRun, runFrames } from './run-frames.ts'

/** Returns the terminal size; some terminals report 0 by 0, which programs cannot use. */
const sizeOf = ({ stdout }: Io) => ({
  cols: Math.min(stdout.columns || 80, 1000),
  rows: Math.min(stdout.rows || 24, 1000),
})

/** Runs the command in this terminal, and always restores the terminal afterwards. */
export async function runInTerminal(run: Omit<FramesRun, 'withStdin' | 'onStart'>): Promise<Ended> {
  const { io, engine, body } = run
  const { stdin, stdout } = io
  let execId: string | undefined
  const resize = () => {
    if (execId === undefined) return
    // The command may have just ended.
    engine.ask('resizeShellExec', { exec_id: execId, ...sizeOf(io) }).catch(() => {})
  }
  const isRaw = stdin.isTTY === true && stdin.setRawMode !== undefined
  if (isRaw) makeRaw(io)
  stdout.on?.('resize', resize)
  try {
    const onStart = (id: string) => (execId = id)
    return await runFrames({ ...run, body: uncheckedFields({ ...body, pty: sizeOf(io) }), withStdin: true, onStart })
  } finally {
    stdout.off?.('resize', resize)
    if (isRaw) stdin.setRawMode?.(false)
  }
}

/** Switches to raw mode, and turns off carriage returns in the output, which Node's raw mode keeps. */
function makeRaw({ stdin }: Io): void {
  stdin.setRawMode?.(true)
  // Leaving raw mode restores this setting, too. Without stty, lines only end with an extra carriage return.
  spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] })
}

/** @throws BaxError `invalid_request` if standard input or output is not a terminal; `instead` is the hint */
export function needTerminal({ stdin, stdout }: Io, instead: string): void {
  if (stdin.isTTY && stdout.isTTY) return
  throw new BaxError('invalid_request', 'standard input or output is not a terminal', {
    hint: instead,
  })
}

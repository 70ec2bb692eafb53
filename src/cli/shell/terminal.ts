/** This terminal as that of a command in a session: every key goes there, and its size follows. */
import { spawnSync } from 'node:child_process'
import { call } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { Io } from '../io.ts'
import { type Ended, runFrames } from './run-frames.ts'

/** A terminal may say that it is 0 by 0, and no program can work in that. */
const sizeOf = ({ stdout }: Io) => ({
  cols: Math.min(stdout.columns || 80, 1000),
  rows: Math.min(stdout.rows || 24, 1000),
})

interface TerminalErrand {
  readonly io: Io
  readonly transport: Transport
  readonly http: string
  readonly body: Readonly<Record<string, unknown>>
}

/** Runs the command in a terminal; the own one is as before when it has ended, however it ended. */
export async function runInTerminal({ io, transport, http, body }: TerminalErrand): Promise<Ended> {
  const { stdin, stdout } = io
  let execId: string | undefined
  const resize = () => {
    if (execId === undefined) return
    // A command that has just ended needs no size any more.
    call(transport, 'POST /shell/exec/{exec_id}/resize', { exec_id: execId, ...sizeOf(io) }).catch(() => {})
  }
  const isRaw = stdin.isTTY === true && stdin.setRawMode !== undefined
  if (isRaw) makeRaw(io)
  stdout.on?.('resize', resize)
  try {
    return await runFrames({
      io,
      transport,
      http,
      body: { ...body, pty: sizeOf(io) },
      withStdin: true,
      onStart: (id) => (execId = id),
    })
  } finally {
    stdout.off?.('resize', resize)
    if (isRaw) stdin.setRawMode!(false)
  }
}

/** Keys go through as they are; so does what is written, which Node's raw mode would still give carriage returns. */
function makeRaw({ stdin }: Io): void {
  stdin.setRawMode!(true)
  // Leaving raw mode brings back what was before, this included. Without stty line ends come twice, and no worse.
  spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] })
}

/** @throws BaxError `invalid_request` when nobody sits at a terminal. */
export function needTerminal({ stdin, stdout }: Io): void {
  if (stdin.isTTY && stdout.isTTY) return
  throw new BaxError('invalid_request', 'this is for a terminal, and standard input or output is none', {
    hint: 'run a command with `bax shell exec -s ID -- …`',
  })
}

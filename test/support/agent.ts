/** Runs the program of the agent without a container, to test its protocol. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { agent as native } from '../../scripts/native.js'
import { AgentChannel } from '../../src/engine/shell/agent/channel.ts'

export interface RunningAgent {
  readonly process: ChildProcess
  readonly channel: AgentChannel
  /** Returns its output on stderr. */
  stderr(): string
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
  close(): Promise<void>
}

const architecture = process.arch === 'arm64' ? 'arm64' : 'x64'

/** The reason why the agent cannot run here; null if it can. */
export const noAgent =
  process.platform !== 'linux'
    ? 'skipped, the agent runs on Linux'
    : (await native.compile([architecture])).length > 0
      ? 'skipped, there is no C compiler'
      : null

/** Compiles or copies the agent into a folder; a `checked` one ends at the first memory error. */
export async function agentProgram({ checked = false } = {}): Promise<{ program: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'bax-agent-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  if (!checked) {
    native.copy(folder)
    return { program: join(folder, `agent-${architecture}`), remove }
  }
  const program = join(folder, 'agent')
  await native.compileWith('cc', ['-fsanitize=address,undefined', '-fno-sanitize-recover=all', '-g', '-O1'], program)
  return { program, remove }
}

export function startAgent(program: string): RunningAgent {
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'pipe'], cwd: fileURLToPath(new URL('.', import.meta.url)) })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // It may end before it has read everything.
  child.stdin.on('error', () => {})
  const channel = new AgentChannel((bytes) => void child.stdin.write(bytes))
  child.stdout.on('data', (bytes: Buffer) => channel.receive(bytes))
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.on('close', (code, signal) => {
      channel.lose({ reason: 'exited', message: 'the agent has ended' })
      resolve(code ?? signal!)
    })
  })
  return {
    process: child,
    channel,
    stderr: () => stderr,
    ended,
    async close() {
      child.stdin.end()
      await ended
    },
  }
}

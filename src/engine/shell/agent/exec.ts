/** Program that runs in the container, controlled through the agent. */
import type { ContainerExec, ExecExit, ExecSpec, TerminalSize } from '../container-exec.ts'
import { type AgentChannel, type Conversation, unexpected } from './channel.ts'
import { Deferred } from './deferred.ts'
import { execFlag, type FrameReader, FrameWriter, fromAgent, toAgent, unlimited } from './frames.ts'
import { InputQueue } from './input-queue.ts'
import { OutputQueue } from './output-queue.ts'

/** Starts a program; see `ShellContainer.exec`. `env` is the complete environment. */
export async function startExec(channel: AgentChannel, spec: ExecSpec): Promise<ContainerExec> {
  const exec = new AgentExec(channel, spec)
  await exec.started
  if (typeof spec.stdin === 'object') {
    void exec.write(spec.stdin)
    exec.endInput()
  }
  return exec
}

class AgentExec implements ContainerExec, Conversation {
  readonly stdout: OutputQueue
  readonly stderr: OutputQueue
  pid = 0
  madeRoom = 0
  readonly #channel: AgentChannel
  readonly #id: number
  readonly #started = new Deferred<void>()
  readonly #exit = new Deferred<ExecExit>()
  readonly started = this.#started.promise
  readonly exit = this.#exit.promise
  readonly #input: InputQueue

  constructor(channel: AgentChannel, spec: ExecSpec) {
    this.#channel = channel
    this.stdout = this.#queue(1)
    this.stderr = this.#queue(2)
    this.#input = new InputQueue(
      (bytes) => this.#send(toAgent.data, new FrameWriter().raw(bytes)),
      () => this.#send(toAgent.end),
    )
    if (spec.stdin === 'none' && !spec.pty) this.#input.close()
    this.#id = channel.begin(toAgent.exec, execBody(spec), this)
  }

  write(data: Uint8Array): Promise<boolean> {
    return this.#input.write(data)
  }

  endInput(): void {
    this.#input.end()
  }

  signal(number: number): void {
    this.#send(toAgent.signal, new FrameWriter().u32(number))
  }

  resize({ cols, rows }: TerminalSize): void {
    this.#send(toAgent.resize, new FrameWriter().u16(cols).u16(rows))
  }

  kill(at: 'gently' | 'now' = 'gently'): void {
    this.#send(toAgent.kill, new FrameWriter().u8(at === 'gently' ? 1 : 0))
  }

  frame(type: number, body: FrameReader): void {
    if (type === fromAgent.started) {
      this.pid = body.u32()
      this.madeRoom = body.u32()
      this.#started.resolve()
    } else if (type === fromAgent.inputCredit) this.#input.grant(body.u32())
    else if (type === fromAgent.inputClosed) this.#input.close()
    else if (type === fromAgent.exited) this.#finish(readExit(body))
    else unexpected(type)
  }

  output(stream: number, bytes: Buffer): void {
    const queue = stream === 1 ? this.stdout : this.stderr
    queue.push(bytes)
  }

  fail(error: Error): void {
    this.#started.reject(error)
    this.#exit.reject(error)
    this.#input.close()
    this.stdout.fail(error)
    this.stderr.fail(error)
  }

  #finish(exit: ExecExit): void {
    this.#channel.finish(this.#id)
    this.#input.close()
    this.stdout.end()
    this.stderr.end()
    this.#exit.resolve(exit)
  }

  #queue(stream: 1 | 2): OutputQueue {
    return new OutputQueue({
      grant: (bytes) => this.#send(toAgent.credit, new FrameWriter().u8(stream).u32(bytes)),
      discard: () => this.#send(toAgent.discard, new FrameWriter().u8(stream)),
    })
  }

  #send(type: number, body?: FrameWriter): void {
    this.#channel.send(type, this.#id, body)
  }
}

function execBody(spec: ExecSpec): FrameWriter {
  const { argv, cwd, env, script, pty, stdin, timeoutMs, outputLimit } = spec
  const flags =
    (pty ? execFlag.pty : 0) | (stdin === 'none' || pty ? 0 : execFlag.stdin) | (script ? execFlag.script : 0)
  const body = new FrameWriter()
    .u8(flags)
    .u16(pty?.cols ?? 0)
    .u16(pty?.rows ?? 0)
    .u64(timeoutMs === undefined ? 0n : BigInt(Math.max(1, Math.round(timeoutMs * 1000))))
    .u64(outputLimit === undefined ? unlimited : BigInt(outputLimit))
    .bytes(cwd)
    .u32(argv.length)
  for (const item of argv) body.bytes(item)
  const variables = Object.entries(env)
  body.u32(variables.length)
  for (const [name, value] of variables) body.bytes(`${name}=${value}`)
  return body.bytes(script ?? new Uint8Array())
}

function readExit(body: FrameReader): ExecExit {
  const flags = body.u8()
  const signalled = body.u8() === 1
  const value = body.u32()
  return {
    code: signalled ? null : value,
    signal: signalled ? value : null,
    timedOut: (flags & 1) !== 0,
    killed: (flags & 2) !== 0,
    oomKilled: (flags & 4) !== 0,
    crowdedOut: (flags & 8) !== 0,
    leftRunning: body.u32(),
    stdoutBytes: Number(body.u64()),
    stderrBytes: Number(body.u64()),
    durationUs: Number(body.u64()),
  }
}

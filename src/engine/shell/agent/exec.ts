/** Program that runs in the container, controlled through the agent. */
import type { ContainerExec, ExecExit, ExecSpec } from '../container-exec.ts'
import { type AgentChannel, unexpected } from './channel.ts'
import { Deferred } from './deferred.ts'
import { execFlag, type FrameReader, FrameWriter, fromAgent, toAgent, unlimited } from './frames.ts'
import { InputQueue } from './input-queue.ts'
import { OutputQueue } from './output-queue.ts'

/** Starts a program; see `ShellContainer.exec`. `env` is the complete environment. */
export async function startExec(channel: AgentChannel, spec: ExecSpec): Promise<ContainerExec> {
  const started = new Deferred<Pick<ContainerExec, 'pid' | 'madeRoom'>>()
  const exit = new Deferred<ExecExit>()
  const send = (type: number, body?: FrameWriter) => channel.send(type, id, body)
  const [stdout, stderr] = [1, 2].map(
    (stream) =>
      new OutputQueue({
        grant: (bytes) => send(toAgent.credit, new FrameWriter().u8(stream).u32(bytes)),
        discard: () => send(toAgent.discard, new FrameWriter().u8(stream)),
      }),
  ) as [OutputQueue, OutputQueue]
  const input = new InputQueue(
    (bytes) => send(toAgent.data, new FrameWriter().raw(bytes)),
    () => send(toAgent.end),
  )
  if (spec.stdin === 'none' && !spec.pty) input.close()
  const onExit = (outcome: ExecExit) => {
    channel.finish(id)
    input.close()
    stdout.end()
    stderr.end()
    exit.resolve(outcome)
  }
  const id = channel.begin(toAgent.exec, execBody(spec), {
    frame: (type, body) => {
      if (type === fromAgent.started) started.resolve({ pid: body.u32(), madeRoom: body.u32() })
      else if (type === fromAgent.inputCredit) input.grant(body.u32())
      else if (type === fromAgent.inputClosed) input.close()
      else if (type === fromAgent.exited) onExit(readExit(body))
      else unexpected(type)
    },
    output: (stream, bytes) => (stream === 1 ? stdout : stderr).push(bytes),
    fail: (error) => {
      started.reject(error)
      exit.reject(error)
      input.close()
      stdout.fail(error)
      stderr.fail(error)
    },
  })
  const { pid, madeRoom } = await started.promise
  if (typeof spec.stdin === 'object') {
    void input.write(spec.stdin)
    input.end()
  }
  return {
    pid,
    madeRoom,
    stdout,
    stderr,
    exit: exit.promise,
    write: (data) => input.write(data),
    endInput: () => input.end(),
    signal: (number) => send(toAgent.signal, new FrameWriter().u32(number)),
    resize: ({ cols, rows }) => send(toAgent.resize, new FrameWriter().u16(cols).u16(rows)),
    kill: (at = 'gently') => send(toAgent.kill, new FrameWriter().flag(at === 'gently')),
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

import { limits } from '../../core/limits/limits.ts'
import { defineOperation, defineStream } from '../../core/operation/operation.ts'
import { onExec, onShell } from '../../core/operation/placement.ts'
import {
  execAnswer,
  execFrame,
  execId,
  execInput,
  execRecord,
  execStreamInput,
  resizeInput,
  signalInput,
  stdinInput,
} from '../../core/shapes/shell/exec.ts'
import { samples } from '../samples.ts'

const startErrors = [
  'session_closed',
  'conflict',
  'file_not_found',
  'not_a_directory',
  'permission_denied',
  'unsupported',
  'feature_disabled',
  'payload_too_large',
  'too_many_execs',
  'session_lost',
] as const

export const shellExec = defineOperation({
  summary: 'Run a command in a shell session',
  description:
    'Returns 200 for any outcome of the command: non-zero exit code, signal, timeout. Every call starts a new shell: `cd` ' +
    'and `export` do not persist, but files and background processes do. If the caller disconnects, the command and all ' +
    'its processes are killed.',
  http: 'POST /shell/exec',
  scope: 'shell',
  runs: onShell,
  cli: 'shell exec [command]',
  example: [
    "bax shell exec 'ls -la /etc | head'",
    'bax shell exec -s data -- python3 -c "print(6 * 7)"',
    'bax shell exec -s data --language python --code @main.py',
  ],
  sample: { ...samples.shell, command: 'python3 -c "print(6 * 7)"' },
  input: execInput,
  output: execAnswer,
  status: (answer) => ('stdout' in answer ? 200 : 202),
  statuses: [200, 202],
  errors: startErrors,
  bodyBytes: limits.exec.bodyBytes,
  run: (engine, input, call) => engine.shells.execs.run(input, call),
})

export const getShellExec = defineOperation({
  summary: 'Show a command and its output so far',
  description: 'Remembers the last 100 finished commands of a live session.',
  http: 'GET /shell/exec/{exec_id}',
  scope: 'shell',
  runs: onExec,
  cli: 'shell result <exec_id>',
  example: ['bax shell result ex_…', 'bax shell result ex_… --json'],
  show: { as: 'record' },
  sample: samples.exec,
  input: execId,
  output: execRecord,
  run: (engine, { exec_id }, call) => engine.shells.execs.get(exec_id, call),
})

export const signalShellExec = defineOperation({
  summary: 'Send a signal to a running command',
  http: 'POST /shell/exec/{exec_id}/signal',
  scope: 'shell',
  runs: onExec,
  cli: 'shell signal <exec_id>',
  example: ['bax shell signal ex_…', 'bax shell signal ex_… --signal SIGINT'],
  allowedWhileDraining: true,
  sample: { ...samples.exec, signal: 'SIGINT' },
  input: signalInput,
  output: null,
  errors: ['session_lost'],
  run: (engine, input, call) => engine.shells.execs.signal(input, call),
})

export const writeShellExec = defineOperation({
  summary: 'Write to standard input of a running command',
  description:
    'For commands started with `keep_stdin` or `pty`. Responds when the program can accept more; 409 if it no longer reads.',
  http: 'POST /shell/exec/{exec_id}/stdin',
  scope: 'shell',
  runs: onExec,
  allowedWhileDraining: true,
  sample: { ...samples.exec, data: 'yes\n' },
  input: stdinInput,
  output: null,
  errors: ['conflict', 'session_lost'],
  bodyBytes: limits.exec.bodyBytes,
  run: (engine, input, call) => engine.shells.execs.write(input, call),
})

export const resizeShellExec = defineOperation({
  summary: 'Resize the terminal of a running command',
  http: 'POST /shell/exec/{exec_id}/resize',
  scope: 'shell',
  runs: onExec,
  allowedWhileDraining: true,
  sample: { ...samples.exec, cols: 120, rows: 40 },
  input: resizeInput,
  output: null,
  errors: ['conflict', 'session_lost'],
  run: (engine, input, call) => engine.shells.execs.resize(input, call),
})

export const shellExecStream = defineStream({
  summary: 'Run a command and stream its output',
  description:
    'Server-sent events, or NDJSON with `Accept: application/x-ndjson`: start, stdout and stderr (or pty), artifact, ' +
    'ping, and finally exactly one exit or error. The joined chunks are the exact bytes. A slow reader slows the program.',
  http: 'POST /shell/exec/stream',
  scope: 'shell',
  runs: onShell,
  sample: { ...samples.shell, argv: ['ping', '-c', '3', 'localhost'] },
  input: execStreamInput,
  frame: execFrame,
  errors: startErrors,
  bodyBytes: limits.exec.bodyBytes,
  open: (engine, input, call) => engine.shells.execs.stream(input, call),
})

export const followShellExec = defineStream({
  summary: 'Follow a streamed command again',
  description:
    'For commands started with `on_disconnect: "continue"`. Continues after the frame given by `Last-Event-ID`, else starts ' +
    'with all buffered output (1000 frames, 4 MiB); `lagged` reports the number of lost frames.',
  http: 'GET /shell/exec/{exec_id}/stream',
  scope: 'shell',
  runs: onExec,
  sample: samples.exec,
  input: execId,
  frame: execFrame,
  errors: ['conflict'],
  open: (engine, { exec_id }, call) => engine.shells.execs.follow(exec_id, call),
})

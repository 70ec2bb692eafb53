import { expect, test } from 'vitest'
import { execResult } from '../../src/core/shapes/shell/exec.ts'
import { failureOf } from '../support/session-steps.ts'
import { inEveryShell, stdoutOf } from '../support/shell.ts'
import { waitUntil } from '../support/wait.ts'

inEveryShell((given) => {
  const { sh } = given
  const exec = (body: Record<string, unknown>) =>
    given.client().shellExec({ session_id: given.id(), ...body } as never) as ReturnType<typeof sh>
  const processes = async () => (await sh('ps -o args')).stdout

  test('a command returns its output and any exit code', async () => {
    const result = await sh('echo out; echo err >&2; exit 3')
    expect(result).toMatchObject({
      stdout: 'out\n',
      stderr: 'err\n',
      exit_code: 3,
      timed_out: false,
      signal: null,
      stdout_bytes: 4,
      stderr_bytes: 4,
      stdout_truncated: false,
      stdout_encoding: 'utf8',
      oom_killed: false,
      left_running: 0,
      artifact_id: null,
    })
    expect(execResult.strict().safeParse(result).error).toBeUndefined()
    expect(Object.keys(result).slice(0, 5)).toEqual(['stdout', 'stderr', 'exit_code', 'duration_ms', 'timed_out'])
  })

  test('every call is a new shell in /workspace without input: only files persist, not cd or export', async () => {
    await sh('cd /tmp; export A=1; echo kept > /workspace/kept')
    expect((await sh('pwd; echo "[$A]"; cat kept; cat; echo end')).stdout).toBe('/workspace\n[]\nkept\nend\n')
  })

  test('cwd, env and stdin are applied, and argv bypasses the shell', async () => {
    await sh('mkdir -p /workspace/sub')
    expect((await sh('pwd; echo $NAME; cat', { cwd: 'sub', env: { NAME: 'a b' }, stdin: 'in' })).stdout).toBe(
      '/workspace/sub\na b\nin',
    )
    expect((await exec({ argv: ['echo', '$HOME', 'a  b', ''] })).stdout).toBe('$HOME a  b \n')
    expect((await exec({ argv: ['cat'], stdin: 'AP8=', stdin_encoding: 'base64' })).stdout).toBe('AP8=')
  })

  test('a signal, a missing program and a file that is not executable have the exit codes of shells', async () => {
    expect(await sh('kill -9 $$')).toMatchObject({ exit_code: 137, signal: 'SIGKILL' })
    expect(await sh('kill -TERM $$')).toMatchObject({ exit_code: 143, signal: 'SIGTERM' })
    const missing = await exec({ argv: ['no-such-program'] })
    expect(missing).toMatchObject({ exit_code: 127, stdout: '', stderr: expect.stringContaining('no-such-program') })
    await sh('echo text > plain')
    expect(await exec({ argv: ['./plain'] })).toMatchObject({ exit_code: 126, stdout: '' })
  })

  test('returns all 256 byte values as base64, text as text, and marks invalid bytes with utf8', async () => {
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
    const stdin = { stdin: all.toString('base64'), stdin_encoding: 'base64' }
    const exact = await exec({ argv: ['cat'], ...stdin })
    expect(exact.stdout_encoding).toBe('base64')
    expect(stdoutOf(exact).equals(all)).toBe(true)
    expect((await sh("printf 'gr\\303\\274n'")).stdout).toBe('grün')
    expect(await sh("printf 'a\\377'", { encoding: 'utf8' })).toMatchObject({
      stdout: 'a\ufffd',
      stdout_encoding: 'utf8',
    })
    expect(await sh('echo a', { encoding: 'base64' })).toMatchObject({ stdout: 'YQo=', stdout_encoding: 'base64' })
    expect((await sh("printf '\\357\\273\\277x'")).stdout).toBe('\ufeffx')
  })

  test('output above the limit is counted and cut between characters; the command continues', async () => {
    const command = "i=0; while [ $i -lt 1000 ]; do printf 'ü'; i=$((i+1)); done; echo done >&2"
    const result = await sh(command, { max_output_bytes: 101 })
    expect(result).toMatchObject({
      stdout: 'ü'.repeat(50),
      stdout_bytes: 2000,
      stdout_truncated: true,
      stderr: 'done\n',
      stderr_truncated: false,
      exit_code: 0,
      warning: 'the output was truncated to max_output_bytes: stdout has 2000 bytes',
    })
    expect(await sh('printf ab; printf cde >&2', { max_output_bytes: 1 })).toMatchObject({
      warning: 'the output was truncated to max_output_bytes: stdout has 2 bytes, stderr has 3 bytes',
    })
    expect(await sh('printf ab; printf cd >&2', { max_output_bytes: 2 })).not.toHaveProperty('warning')
  })

  test('a timeout ends the whole tree, including new sessions and ignored TERM, and keeps the output', async () => {
    const stubborn = "trap '' TERM; while :; do sleep 1; done"
    const result = await sh(`echo before; setsid sh -c "${stubborn}" & (sh -c "${stubborn}" &) ; ${stubborn}`, {
      timeout_secs: 2,
    })
    expect(result).toMatchObject({ exit_code: 124, timed_out: true, signal: 'SIGKILL', stdout: 'before\n' })
    expect(await processes()).not.toContain('trap')
  })

  test('a command returns when it exits, even if its pipes are held, and reports processes left running', async () => {
    const result = await sh('sleep 3600 & echo started')
    expect(result).toMatchObject({ stdout: 'started\n', exit_code: 0, left_running: 1 })
    // It may still have to begin.
    await waitUntil(async () => (await sh('pkill sleep || killall sleep')).exit_code === 0)
  })

  test('a command of a megabyte runs; a longer one, or one with NUL, is rejected', async () => {
    const filler = `: ${'x'.repeat(1024 * 1024 - 20)}`
    expect((await sh(`${filler}\necho end`)).stdout).toBe('end\n')
    expect(await failureOf(sh('x'.repeat(1024 * 1024 + 1)))).toMatchObject({ code: 'invalid_request' })
    expect(await failureOf(sh('echo \0'))).toMatchObject({
      code: 'invalid_request',
      message: 'command must not contain a NUL character',
    })
    expect(await failureOf(sh('true', { env: { 'A=': 'x' } }))).toMatchObject({ code: 'invalid_request' })
    expect(await failureOf(sh('true', { env: { A: '\0' } }))).toMatchObject({ code: 'invalid_request' })
    expect(await failureOf(exec({ argv: ['echo', 'x'.repeat(200_000)] }))).toMatchObject({ code: 'payload_too_large' })
  })

  test('requires exactly one of command, code and argv, and a timeout of up to an hour', async () => {
    expect(await failureOf(exec({}))).toMatchObject({
      code: 'invalid_request',
      message: 'one of command, code, argv is required',
    })
    expect(await failureOf(exec({ command: 'a', argv: ['b'] }))).toMatchObject({ code: 'invalid_request' })
    for (const timeout_secs of [0, -1, 3601])
      expect(await failureOf(sh('true', { timeout_secs }))).toMatchObject({ status: 400 })
    expect(await failureOf(sh('true', { stdin: 'not base64', stdin_encoding: 'base64' }))).toMatchObject({
      status: 400,
    })
    expect(await failureOf(sh('true', { user: 'root' }))).toMatchObject({ code: 'feature_disabled', status: 403 })
  })

  test('an invalid working folder is a specific error', async () => {
    expect(await failureOf(sh('true', { cwd: '/none' }))).toMatchObject({ code: 'file_not_found' })
    expect(await failureOf(sh('true', { cwd: '/etc/passwd' }))).toMatchObject({ code: 'not_a_directory' })
  })

  test('twenty megabytes of input to a program that does not read are harmless', async () => {
    const stdin = 'x'.repeat(20 * 1024 * 1024)
    expect(await sh('exec 0<&-; echo deaf', { stdin })).toMatchObject({ stdout: 'deaf\n', exit_code: 0 })
    expect(await sh('wc -c', { stdin })).toMatchObject({ stdout: `${stdin.length}\n` })
  })

  test('in the background: can be inspected, written to and signaled, and its result is kept', async () => {
    const started = await exec({
      command: 'echo first; while read line; do echo "got $line"; done; echo end',
      background: true,
      keep_stdin: true,
    })
    const { exec_id } = started
    expect(started).toEqual({ exec_id, status: 'running', pid: expect.any(Number) })
    const get = () => given.client().getShellExec({ exec_id })
    expect(await get()).toMatchObject({ status: 'running', exit_code: null, session_id: given.id() })
    await given.client().writeShellExec({ exec_id, data: 'one\n' })
    await given
      .client()
      .writeShellExec({ exec_id, data: Buffer.from('two\n').toString('base64'), encoding: 'base64', eof: true })
    await waitUntil(async () => (await get()).status === 'exited')
    expect(await get()).toMatchObject({ exit_code: 0, stdout: 'first\ngot one\ngot two\nend\n' })
    expect(await failureOf(given.client().writeShellExec({ exec_id, data: 'late' }))).toMatchObject({
      code: 'conflict',
    })
    const sleeping = await exec({ command: 'sleep 3600', background: true })
    await given.client().signalShellExec({ exec_id: sleeping.exec_id, signal: 'SIGINT' })
    await waitUntil(async () => (await given.client().getShellExec({ exec_id: sleeping.exec_id })).status === 'exited')
    expect(await given.client().getShellExec({ exec_id: sleeping.exec_id })).toMatchObject({
      signal: 'SIGINT',
      exit_code: 130,
    })
    expect(await failureOf(given.client().getShellExec({ exec_id: 'ex_none' }))).toMatchObject({
      code: 'exec_not_found',
      status: 404,
    })
  })

  test('disconnecting kills the command and everything it has started', async () => {
    const controller = new AbortController()
    const call = given
      .client()
      .shellExec(
        { session_id: given.id(), command: 'touch /tmp/began; setsid sleep 7777 & sleep 7777' },
        { signal: controller.signal },
      )
    const outcome = call.catch((error: unknown) => error)
    await waitUntil(async () => (await sh('test -e /tmp/began')).exit_code === 0)
    controller.abort()
    await outcome
    await waitUntil(async () => !(await processes()).includes('sleep 7777'))
  })

  test('sixteen commands run concurrently, and the seventeenth is rejected', async () => {
    const { session_id } = await given.create()
    const wait = { session_id, command: 'until test -e go; do sleep 0.1; done' }
    const running = Array.from({ length: 16 }, () => exec(wait))
    await waitUntil(async () => (await given.client().getShell({ session_id })).running_execs === 16)
    expect(await failureOf(exec({ session_id, command: 'true' }))).toMatchObject({
      code: 'too_many_execs',
      status: 429,
    })
    await given.client().writeShellFile({ session_id, path: 'go', content: '' })
    expect((await Promise.all(running)).map(({ exit_code }) => exit_code)).toEqual(Array.from({ length: 16 }, () => 0))
    expect(await exec({ session_id, command: 'true' })).toMatchObject({ exit_code: 0 })
    await given.client().deleteShell({ session_id })
  })

  test('a program that exhausts the memory is killed and reported', async () => {
    const { session_id } = await given.create({
      limits: {
        memory_mb: 32,
        tmp_mb: 1,
        workspace_mb: 1,
        output_mb: 1,
        tmp_files: 100,
        workspace_files: 100,
        output_files: 100,
      },
    })
    const result = await exec({ session_id, command: 'head -c 300000000 /dev/zero | tail', timeout_secs: 60 })
    expect(result).toMatchObject({ oom_killed: true, timed_out: false })
    expect(await exec({ session_id, command: 'echo alive' })).toMatchObject({ stdout: 'alive\n' })
    await given.client().deleteShell({ session_id })
  })

  test('a full disk only fails the program', async () => {
    const { session_id } = await given.create({ limits: { workspace_mb: 1 } })
    const full = await exec({ session_id, command: 'dd if=/dev/zero of=big bs=1M count=5' })
    expect(full).toMatchObject({ exit_code: 1, stderr: expect.stringContaining('No space left') })
    const write = given.client().writeShellFile({ session_id, path: 'other', content: 'x'.repeat(3_000_000) })
    expect(await failureOf(write)).toMatchObject({ code: 'no_space', status: 507 })
    await given.client().deleteShell({ session_id })
  })
})

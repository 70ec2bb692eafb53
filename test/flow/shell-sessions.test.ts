import { expect, test } from 'vitest'
import { follow } from '../../src/client/client.ts'
import { shellSession } from '../../src/core/shapes/shell/session.ts'
import { connectDocker } from '../../src/engine/shell/docker/connection.ts'
import { shellConfig } from '../support/docker.ts'
import { failureOf } from '../support/session-steps.ts'
import { inEveryShell } from '../support/shell.ts'
import { waitUntil } from '../support/wait.ts'

inEveryShell((given) => {
  const get = (session_id: string) => given.client().getShell({ session_id })

  test('a session has the documented record with the requested values', async () => {
    const session = await given.create({
      name: `shop-${Math.random()}`,
      language: 'bash',
      env: { A: '1', B: 'two words' },
      cwd: '/tmp',
      metadata: { ticket: 7 },
      timeout_secs: 90,
      limits: { memory_mb: 100, pids: 40 },
      output_mounts: ['/output', '/plots'],
    })
    expect(shellSession.strict().safeParse(session).error).toBeUndefined()
    expect(session).toMatchObject({
      id: session.session_id,
      status: 'ready',
      language: 'bash',
      network: 'none',
      timeout_secs: 90,
      cwd: '/tmp',
      metadata: { ticket: 7 },
      limits: { memory_mb: 100, cpus: 1, pids: 40, workspace_mb: 256, max_output_bytes: 8_388_608 },
      output_mounts: ['/output', '/plots'],
      running_execs: 0,
      exec_count: 0,
      artifact_count: 0,
      stopped_at: null,
      stop_reason: null,
    })
    expect(session.session_id).toMatch(/^sh_[\w-]{20}$/)
    expect(JSON.stringify(session)).not.toMatch(/[0-9a-f]{64}/)
    const result = await given.sh('pwd; echo "$A $B"; touch /output/a /plots/b && echo fine', {
      session_id: session.name,
    })
    expect(result.stdout).toBe('/tmp\n1 two words\nfine\n')
    await given.client().deleteShell({ session_id: session.session_id })
  })

  test('accepts camelCase, rejects unknown fields that could affect safety, and reports others', async () => {
    const session = await given.create({ timeoutSecs: 77, colour: 'red' })
    expect(session).toMatchObject({ timeout_secs: 77, warning: 'ignored unknown field: colour' })
    for (const input of [
      { network: 'host' },
      { limits: { disk: 5 } },
      { limits: { memory_mb: 1 } },
      { language: 'perl' },
      { timeout_secs: 0 },
      { output_mounts: ['/etc'] },
      { output_mounts: ['/a', '/a'] },
      { output_mounts: ['../a'] },
      { output_mounts: ['/a/../../etc'] },
      { cwd: 'relative' },
      { env: { 'A=B': '1' } },
      { max_lifetime_secs: 0 },
    ])
      expect(await failureOf(given.create(input)), JSON.stringify(input)).toMatchObject({
        code: 'invalid_request',
        status: 400,
      })
    expect((await failureOf(given.create({ language: 'perl' }))).message).toContain('"python", "javascript", "bash"')
    await given.client().deleteShell({ session_id: session.session_id })
  })

  test('an invalid image reference is rejected without asking Docker', async () => {
    for (const image of [
      '../../etc',
      'x%2f..%2f',
      '../../127.0.0.1:9/x',
      'x --privileged',
      '\ud800',
      'Upper',
      'a'.repeat(256),
    ])
      expect(await failureOf(given.create({ image })), image).toMatchObject({
        code: 'invalid_request',
        details: [{ path: 'image' }],
        status: 400,
      })
    expect((await given.client().getShell({ session_id: given.id() })).status).toBe('ready')
  })

  test('a missing image is not pulled', async () => {
    expect(await failureOf(given.create({ image: 'no-such-image:ever' }))).toMatchObject({
      code: 'image_not_found',
      status: 404,
    })
    const failed = await given.client().listShells({ status: 'failed' })
    expect(failed.sessions[0]).toMatchObject({
      status: 'failed',
      stop_reason: 'image_error',
      image: 'no-such-image:ever',
    })
    expect(await failureOf(given.create({ image: 'no-such-image:ever', pull: true }))).toMatchObject({
      code: 'feature_disabled',
    })
  })

  test('lists sessions newest first, in pages, by status', async () => {
    const made = [await given.create(), await given.create(), await given.create()]
    const ids = made.map(({ session_id }) => session_id).toReversed()
    const first = await given.client().listShells({ status: 'ready', limit: 2 })
    expect(first.sessions.map(({ id }) => id)).toEqual(ids.slice(0, 2))
    expect(first.total).toBeGreaterThanOrEqual(4)
    const second = await given.client().listShells({ status: 'ready', limit: 2, cursor: first.next_cursor! })
    expect(second.sessions[0]!.id).toBe(ids[2])
    const last = await given.client().listShells({ status: 'ready', limit: 1000 })
    expect(last.next_cursor).toBeNull()
    expect(await failureOf(given.client().listShells({ cursor: 'nonsense' }))).toMatchObject({
      code: 'invalid_request',
    })
    for (const session_id of ids) await given.client().deleteShell({ session_id })
    expect((await given.client().listShells({ status: 'stopped' })).sessions.slice(0, 3).map(({ id }) => id)).toEqual(
      ids,
    )
  })

  test('a deleted session ends with all its processes, reports the reason for an hour, and can be deleted again', async () => {
    const { session_id } = await given.create({ name: 'short' })
    const exec = await given.client().shellExec({ session_id, command: 'sleep 3600', background: true })
    await given.client().deleteShell({ session_id })
    expect(await get(session_id)).toMatchObject({
      status: 'stopped',
      stop_reason: 'deleted',
      running_execs: 0,
      exec_count: 1,
      stopped_at: expect.any(String),
    })
    expect(await given.client().getShellExec({ exec_id: exec.exec_id })).toMatchObject({ status: 'exited' })
    await given.client().deleteShell({ session_id })
    const closed = await failureOf(given.sh('true', { session_id }))
    expect(closed).toMatchObject({
      code: 'session_closed',
      status: 410,
      details: { stop_reason: 'deleted', reason: 'deleted' },
    })
    expect(await failureOf(given.client().touchShell({ session_id }))).toMatchObject({ code: 'session_closed' })
    // The name is available again.
    expect((await given.create({ name: 'short' })).name).toBe('short')
    expect(await failureOf(given.create({ name: 'short' }))).toMatchObject({ code: 'conflict', status: 409 })
    await given.client().deleteShell({ session_id: 'short' })
  })

  test('a kill ends all processes of a session with accurate results, and keeps its files', async () => {
    const { session_id } = await given.create()
    const client = given.client()
    const command = 'echo kept > file; setsid sleep 4343 & echo started; sleep 4343'
    let isStarted: () => void
    const started = new Promise<void>((resolve) => (isStarted = resolve))
    const frames = given.stream({ session_id, command }, { onFrame: ({ type }) => type === 'stdout' && isStarted() })
    await started
    await given.sh('sleep 4343 >/dev/null 2>&1 &', { session_id })
    const { killed } = await client.killShell({ session_id })
    expect(killed).toBeGreaterThanOrEqual(3)
    expect((await frames).at(-1)).toMatchObject({
      type: 'exit',
      exit_code: 137,
      signal: 'SIGKILL',
      timed_out: false,
      left_running: 0,
    })
    expect(await client.killShell({ session_id })).toEqual({ killed: 0 })
    expect((await given.sh('cat file; ps -o args', { session_id })).stdout).toMatch(/^kept\n(?![^]*4343)/)
    await client.deleteShell({ session_id })
    expect(await failureOf(client.killShell({ session_id }))).toMatchObject({ code: 'session_closed', status: 410 })
  })

  test('an unknown ID is not found in any operation', async () => {
    const session_id = 'sh_AAAAAAAAAAAAAAAAAAAA'
    const client = given.client()
    const calls = [
      () => client.getShell({ session_id }),
      () => client.touchShell({ session_id }),
      () => client.killShell({ session_id }),
      () => client.deleteShell({ session_id }),
      () => client.listArtifacts({ session_id }),
      () => client.shellExec({ session_id, command: 'true' }),
      () => client.readShellFile({ session_id, path: 'a' }),
    ]
    for (const call of calls)
      expect(await failureOf(call())).toMatchObject({
        code: 'shell_session_not_found',
        status: 404,
      })
  })

  test('an idle session stops; touching it, calls and running commands postpone that', async () => {
    const { session_id, expires_at } = await given.create({ timeout_secs: 30 })
    const touched = await given.client().touchShell({ session_id, timeout_secs: 600 })
    expect(Date.parse(touched.expires_at)).toBeGreaterThan(Date.parse(expires_at))
    expect(touched.timeout_secs).toBe(600)
    const running = await given
      .client()
      .shellExec({ session_id, command: 'until test -e go; do sleep 0.1; done', background: true })
    await given.client().touchShell({ session_id, timeout_secs: 0.3 })
    await waitUntil(async () => Date.parse((await get(session_id)).last_active_at) < Date.now() - 1000)
    expect(await get(session_id)).toMatchObject({ status: 'ready', running_execs: 1 })
    await given.client().writeShellFile({ session_id, path: 'go', content: '' })
    await waitUntil(async () => (await given.client().getShellExec({ exec_id: running.exec_id })).status === 'exited')
    await waitUntil(async () => (await get(session_id)).status === 'stopped')
    expect(await get(session_id)).toMatchObject({ stop_reason: 'idle_timeout' })
  })

  test('a session ends after its maximum lifetime, even with running commands', async () => {
    const { session_id } = await given.create({ max_lifetime_secs: 10 })
    await given.client().shellExec({ session_id, command: 'sleep 3600', background: true })
    await waitUntil(async () => (await get(session_id)).status === 'stopped')
    expect(await get(session_id)).toMatchObject({ stop_reason: 'max_lifetime' })
  })

  test('canceling the creation of a session leaves nothing behind', async () => {
    const before = (await given.client().listShells({ status: 'ready' })).total
    const stop = new AbortController()
    const image = 'bax-shell:busybox'
    const making = given.client().createShell({ image }, { signal: stop.signal })
    stop.abort()
    await making.catch(() => {})
    await waitUntil(async () => (await given.client().listShells({ status: 'creating' })).total === 0)
    expect((await given.client().listShells({ status: 'ready' })).total).toBe(before)
  })

  test('the loss of a container is reported to a running command within seconds, without an exit status', async () => {
    const { session_id } = await given.create()
    const frames: string[] = []
    const body = { session_id, command: 'echo run; sleep 3600' }
    const background = await given.client().shellExec({ session_id, command: 'sleep 3600', background: true })
    for await (const frame of follow(given.transport(), 'POST /shell/exec/stream', body)) {
      frames.push(frame.type)
      // The first process exits, which ends the container, as if someone had removed it.
      if (frame.type === 'stdout') await removeContainer(session_id)
      if (frame.type === 'error') expect(frame).toMatchObject({ code: 'session_lost' })
    }
    expect(frames).toEqual(['start', 'stdout', 'error'])
    await waitUntil(async () => (await get(session_id)).status === 'stopped')
    expect(await get(session_id)).toMatchObject({ stop_reason: 'container_died' })
    const lost = await given.client().getShellExec({ exec_id: background.exec_id })
    expect(lost).toMatchObject({ status: 'lost', exit_code: null })
    expect(await failureOf(given.sh('true', { session_id }))).toMatchObject({
      code: 'session_closed',
      details: { reason: 'container_died' },
    })
  })

  test('the engine reports the number of sessions, and ends them when it ends', async () => {
    const { shells } = await given.homes().engine.status()
    expect(shells).toBe((await given.client().listShells({ status: 'ready' })).total)
  })
})

/** Removes the container of a session without the engine. */
async function removeContainer(sessionId: string): Promise<void> {
  const { docker } = await connectDocker(shellConfig)
  const found = await docker.listContainers({ filters: { label: [`bax.session=${sessionId}`] } })
  expect(found).toHaveLength(1)
  await docker.getContainer(found[0]!.Id).remove({ force: true })
}

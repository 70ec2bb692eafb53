import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DockerScaler } from '../../../src/fleet/scaler/docker.ts'
import { titled } from '../../support/needs.ts'
import { docker, noSwarm, startSwarm } from '../../support/swarm.ts'
import { waitUntil } from '../../support/wait.ts'

const image = 'bax-shell:busybox'
const absent = await noSwarm(image)

/** Behaves as a worker: exits with 0 once it is drained (SIGUSR1), and ignores SIGTERM as if it held sessions. */
const worker = 'trap "exit 0" USR1; trap "" TERM; while :; do sleep 0.1; done'

describe.skipIf(absent)(titled('the docker scaler, on a Swarm', absent), () => {
  let leave: () => Promise<void>
  const service = 'bax-test-worker'
  const scaler = new DockerScaler(service)
  beforeAll(async () => {
    leave = await startSwarm()
    const flags = ['--detach', '--no-resolve-image', '--restart-condition', 'on-failure', '--stop-grace-period', '60s']
    await docker(
      'service',
      'create',
      '--quiet',
      ...flags,
      '--name',
      service,
      '--replicas',
      '1',
      image,
      'sh',
      '-c',
      worker,
    )
  })
  afterAll(async () => {
    await docker('service', 'rm', service).catch(() => {})
    const ids = await running()
    // They ignore SIGTERM.
    if (ids.length > 0) await docker('kill', ...ids).catch(() => {})
    await leave()
  })

  const running = async () => {
    const ids = await docker(
      'ps',
      '--quiet',
      '--no-trunc',
      '--filter',
      `label=com.docker.swarm.service.name=${service}`,
    )
    return ids.split('\n').filter(Boolean)
  }
  const tasks = async () =>
    (await docker('service', 'ps', service, '--filter', 'desired-state=running', '--format', '{{.CurrentState}}'))
      .split('\n')
      .filter((line) => line.startsWith('Running')).length
  const waitForTasks = (count: number) =>
    waitUntil(async () => (await tasks()) === count && (await running()).length === count)
  /** Lets the worker in a place of the service exit, as a drained one does. */
  const exit = async (slot: number) => {
    const id = await docker('ps', '--quiet', '--filter', `name=^${service}\\.${slot}\\.`)
    await docker('kill', '--signal', 'USR1', id)
  }

  test('grows, and shrinks only by workers that have exited', async () => {
    await waitForTasks(1)
    expect(await scaler.current()).toBe(1)
    await scaler.want(3)
    await waitForTasks(3)
    await expect(scaler.want(2)).rejects.toThrow(`3 workers of ${service} still run`)
    await exit(1)
    await waitUntil(async () => (await scaler.current()) === 2)
    const others = await running()
    expect(others).toHaveLength(2)
    await scaler.want(2)
    expect(await scaler.current()).toBe(2)
    await exit(3)
    await waitUntil(async () => (await scaler.current()) === 1)
    await scaler.want(1)
    await waitForTasks(1)
    // The one that remains has never been asked to end.
    expect(others).toContain((await running())[0])
  })

  test('starts another worker for one that exited, and restarts one that crashed', async () => {
    await waitForTasks(1)
    await docker('kill', ...(await running()))
    await waitForTasks(1)
    const [last] = await running()
    const name = await docker('inspect', '--format', '{{.Name}}', last!)
    await exit(Number(/\.(\d+)\./.exec(name)![1]))
    await waitUntil(async () => (await scaler.current()) === 0)
    await scaler.want(2)
    await waitForTasks(2)
  })

  test('explains a service that does not exist', async () => {
    await expect(new DockerScaler('other').current()).rejects.toMatchObject({
      message: 'there is no Swarm service other',
      hint: 'list them with "docker service ls"',
    })
  })
})

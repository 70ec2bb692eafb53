// swarm-stack.yaml on a Swarm of this machine alone, with its scaler.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createKey, FleetClient, site, siteProgram } from './fleet.js'
import { docker, expect, run, Skip, until } from './steps.js'

const folder = fileURLToPath(new URL('..', import.meta.url))

/** Name of the stack; the scaler of the file names its service. */
const stack = 'bax'
const bridge = 'docker_gwbridge'

export async function checkSwarm(steps, { images }) {
  const state = await docker('info', '--format', '{{.Swarm.LocalNodeState}}')
  if (state !== 'inactive') throw new Skip('this Docker already belongs to a Swarm')
  const files = await mkdtemp(join(tmpdir(), 'bax-check-'))
  steps.undo('remove the files', () => rm(files, { recursive: true }))
  const secretFile = join(files, 'fleet.secret')
  await writeFile(secretFile, randomBytes(48).toString('base64'), { mode: 0o600 })
  await writeFile(join(files, 'override.yaml'), JSON.stringify(override(images.bax)))
  const service = (name) => containersOf(`label=com.docker.swarm.service.name=${stack}_${name}`)

  await steps.step('docker swarm init', () => startSwarm(steps))
  await steps.step('docker stack deploy: Redis, two gateways and a worker', async () => {
    await docker('secret', 'create', 'bax_fleet', secretFile)
    const env = { ...process.env, BAX_IMAGE: images.bax, REDIS_IMAGE: images.redis }
    const compose = ['--compose-file', join(folder, 'swarm-stack.yaml'), '--compose-file', join(files, 'override.yaml')]
    await run('docker', ['stack', 'deploy', '--detach', '--resolve-image', 'never', ...compose, stack], { env })
    await until('running worker', 60, async () => (await service('worker')).length === 1)
    const grace = '{{.Spec.TaskTemplate.ContainerSpec.StopGracePeriod}}'
    expect('its grace period', await docker('service', 'inspect', '--format', grace, `${stack}_worker`), '1h0m10s')
  })
  // In a list, because strings are printed.
  const key = await steps.step('create the first key in the worker', async () => [
    await createKey((await service('worker'))[0]),
  ])
  const client = async () =>
    new FleetClient(`http://${await bridgeAddress((await service('gateway'))[0])}:4100`, key[0])
  await steps.step('the gateways start once there is a key', async () => {
    await until('gateways that are ready', 180, async () => {
      const all = await service('gateway')
      return all.length === 2 && (await (await client()).send('GET', '/readyz', undefined, 5000)).status === 200
    })
  })
  const fleet = await client()
  await steps.step('the published port', async () => {
    if (!existsSync('/proc/net/ip_vs'))
      return 'not tested, because this kernel lacks IPVS, which the routing mesh needs'
    const { ok } = await fetch('http://127.0.0.1:4100/healthz', { signal: AbortSignal.timeout(5000) })
    expect('its answer', ok, true)
  })
  await steps.step('scrape in a browser through the gateway', () => fleet.scrape())
  const session = await steps.step('create a session on a worker', () => fleet.session())
  const drained = await containerOn(await service('worker'), session.address)
  await steps.step('the scaler replaces a worker that is drained, which keeps its session', async () => {
    expect('the status', (await fleet.send('POST', `/fleet/workers/${session.worker}/drain`)).status, 204)
    await fleet.readyWorkers(1, 120)
    const states = (await fleet.workers()).map(({ state: its }) => its)
    expect('the states of the workers', states, ['draining', 'ready'])
    const { scaler } = (await fleet.send('GET', '/fleet')).body
    expect('the scaler', [scaler.scaler, scaler.workers, scaler.message], ['Swarm service bax_worker', 2, null])
    await fleet.assertAlive(session.id)
    await fleet.scrape()
  })
  await steps.step('the drained worker exits with 0 after its session, and Swarm does not restart it', async () => {
    await fleet.send('DELETE', `/sessions/${session.id}`)
    await until('end of the worker', 60, async () => (await inspect(drained, '.State.Status')) === 'exited')
    expect('the exit code', await inspect(drained, '.State.ExitCode'), '0')
    expect('the number of workers', (await fleet.readyWorkers(1, 30)).length, 1)
  })
  await steps.step('a worker that crashes is started again', async () => {
    const [crashed] = await service('worker')
    process.kill(Number(await inspect(crashed, '.State.Pid')), 'SIGKILL')
    await until('new container', 60, async () => !(await service('worker')).includes(crashed) && (await service('worker')).length > 0) // prettier-ignore
  })
}

async function startSwarm(steps) {
  const hadBridge = (await docker('network', 'ls', '--format', '{{.Name}}')).split('\n').includes(bridge)
  const volumes = `label=com.docker.stack.namespace=${stack}`
  await docker('swarm', 'init', '--advertise-addr', '127.0.0.1')
  steps.undo('leave the Swarm', async () => {
    await docker('stack', 'rm', stack)
    await until('end of the tasks', 120, async () => {
      const ids = await containersOf(volumes, '--all')
      // Workers would wait for their sessions.
      if (ids.length > 0) await docker('rm', '--force', '--volumes', ...ids)
      return ids.length === 0
    })
    await docker('swarm', 'leave', '--force')
    if (!hadBridge) await until('removed bridge', 30, () => docker('network', 'rm', bridge).then(() => true))
    const names = (await docker('volume', 'ls', '--quiet', '--filter', volumes)).split('\n').filter(Boolean)
    if (names.length > 0) await docker('volume', 'rm', ...names)
  })
}

const override = (image) => ({
  networks: { site: { driver: 'overlay', ipam: { config: [{ subnet: site.subnet }] } } },
  services: {
    worker: { image, networks: ['site'] },
    site: {
      image,
      entrypoint: ['node', '-e'],
      command: [siteProgram],
      networks: ['site'],
      healthcheck: { disable: true },
      deploy: { endpoint_mode: 'dnsrr' },
    },
  },
})

const inspect = (id, format) => docker('inspect', '--format', `{{${format}}}`, id)

async function containersOf(filter, ...flags) {
  return (await docker('ps', '--quiet', '--no-trunc', '--filter', filter, ...flags)).split('\n').filter(Boolean)
}

/** Returns the address at which this machine reaches a container of a Swarm. */
async function bridgeAddress(id) {
  const subnet = await docker('network', 'inspect', '--format', '{{(index .IPAM.Config 0).Subnet}}', bridge)
  const script = "console.log(Object.values(require('node:os').networkInterfaces()).flat().map(({ address }) => address).join())" // prettier-ignore
  const addresses = (await docker('exec', id, 'node', '-e', script)).split(',')
  const prefix = subnet.split('.').slice(0, 2).join('.')
  return addresses.find((address) => address.startsWith(`${prefix}.`))
}

async function containerOn(ids, address) {
  for (const id of ids) if ((await inspect(id, 'json .NetworkSettings.Networks')).includes(`"${address}"`)) return id
  throw new Error(`no container has the address ${address}`)
}

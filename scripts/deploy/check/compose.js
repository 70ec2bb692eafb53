// compose.yaml, with the images of this machine and a site to visit.
import { randomBytes } from 'node:crypto'
import { chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createKey, FleetClient, site, siteProgram } from './fleet.js'
import { docker, expect, run, Skip, until } from './steps.js'

const folder = fileURLToPath(new URL('..', import.meta.url))

/** The user of the image. */
const user = 10_001

export async function checkCompose(steps, { name, images }) {
  const program = await composeProgram()
  const files = await mkdtemp(join(tmpdir(), 'bax-check-'))
  steps.undo('remove the files', () => rm(files, { recursive: true }))
  const port = await freePort()
  const secretFile = join(files, 'fleet.secret')
  await writeFile(secretFile, randomBytes(48).toString('base64'), { mode: 0o600 })
  await chown(secretFile, user, user)
  await writeFile(join(files, 'override.yaml'), JSON.stringify(override(images.bax)))
  const env = { ...process.env, BAX_IMAGE: images.bax, REDIS_IMAGE: images.redis, BAX_SECRET_FILE: secretFile, BAX_PORT: String(port) } // prettier-ignore
  const compose = (...args) =>
    run(program[0], [...program.slice(1), '-p', name, '-f', 'compose.yaml', '-f', join(files, 'override.yaml'), ...args], { cwd: folder, env }) // prettier-ignore
  const containers = async (service) => (await compose('ps', '-q', service)).split('\n').filter(Boolean)
  const url = `http://127.0.0.1:${port}`

  steps.undo('docker compose down', async () => {
    await compose('kill').catch(() => {})
    await compose('down', '--volumes', '--remove-orphans')
  })
  await steps.step('docker compose up: Redis, a gateway and two workers', async () => {
    await compose('up', '-d')
    expect('the number of workers', (await containers('worker')).length, 2)
    return compose('version', '--short')
  })
  // In a list, because strings are printed.
  const key = await steps.step('create the first key in a worker', async () => [
    await createKey((await containers('worker'))[0]),
  ])
  const fleet = new FleetClient(url, key[0])
  await steps.step('the gateway starts once there is a key', () => fleet.ready(90))
  await steps.step('the health checks of all containers succeed', async () => {
    const all = [...(await containers('gateway')), ...(await containers('worker')), ...(await containers('redis'))]
    for (const id of all) await until('healthy container', 60, async () => (await inspect(id, '.State.Health.Status')) === 'healthy') // prettier-ignore
  })
  await steps.step('workers listen in the private network only', async () => {
    const { Config } = JSON.parse(await inspect(`${name}_fleet`, 'json .IPAM', 'network'))
    const prefix = Config[0].Subnet.split('.').slice(0, 2).join('.')
    for (const worker of await fleet.readyWorkers(2, 30)) expect('the network of a worker', worker.url.startsWith(`http://${prefix}.`), true) // prettier-ignore
    expect('the public ports of Redis', await inspect((await containers('redis'))[0], 'json .NetworkSettings.Ports').then((text) => Object.values(JSON.parse(text)).filter(Boolean)), []) // prettier-ignore
  })
  await steps.step('the secret is a file, and in no setting of a container', async () => {
    const secret = await readFile(secretFile, 'utf8')
    for (const id of [...(await containers('gateway')), ...(await containers('worker'))]) {
      expect('the secret in the settings', (await docker('inspect', id)).includes(secret), false)
      expect('the user', await docker('exec', id, 'sh', '-c', 'id -u; cat /run/secrets/fleet'), `${user}\n${secret}`)
      expect(
        'a write to the file system',
        await docker('exec', id, 'sh', '-c', 'touch /opt/x 2>/dev/null; echo $?'),
        '1',
      )
    }
  })
  await steps.step('scrape in a browser through the gateway', () => fleet.scrape())
  const lost = await steps.step('create a session on a worker', () => fleet.session())
  await steps.step(
    'docker kill of its worker: the session ends as worker_lost, and the other worker goes on',
    async () => {
      await docker('kill', await containerOf(await containers('worker'), lost.address))
      const ended = await until('end of the session', 40, async () => {
        const answer = await fleet.title(lost.id)
        return answer.status === 410 && answer.body
      })
      expect('the reason', ended.details.reason, 'worker_lost')
      await fleet.readyWorkers(1, 30)
      await fleet.scrape()
    },
  )
  await steps.step('a worker that crashes is started again', async () => {
    const [worker] = await fleet.readyWorkers(1, 5)
    const id = await containerOf(await containers('worker'), new URL(worker.url).hostname)
    process.kill(Number(await inspect(id, '.State.Pid')), 'SIGKILL')
    await until('new registration', 60, async () => (await fleet.workers()).some((found) => found.worker_id !== worker.worker_id)) // prettier-ignore
  })
  await steps.step('up --scale worker=3', async () => {
    await compose('up', '-d', '--scale', 'worker=3')
    await fleet.readyWorkers(3, 60)
  })
  await steps.step('docker stop of a worker: its session goes on until it ends, then it exits with 0', async () => {
    const { id, address, worker } = await fleet.session()
    const container = await containerOf(await containers('worker'), address)
    expect('the grace period of workers', await inspect(container, '.Config.StopTimeout'), '3610')
    const stopped = docker('stop', container)
    await until('drained worker', 30, async () => (await fleet.workers()).some(({ worker_id, state }) => worker_id === worker && state === 'draining')) // prettier-ignore
    await fleet.assertAlive(id)
    expect('the status of its end', (await fleet.send('DELETE', `/sessions/${id}`)).status, 204)
    await stopped
    expect('the exit code', await inspect(container, '.State.ExitCode'), '0')
  })
  await steps.step('docker compose stop of the gateway: exits with 0 within its grace period', async () => {
    const [gateway] = await containers('gateway')
    expect('the grace period', await inspect(gateway, '.Config.StopTimeout'), '45')
    await compose('stop', 'gateway')
    expect('the exit code', await inspect(gateway, '.State.ExitCode'), '0')
  })
}

const override = (image) => ({
  networks: { front: { ipam: { config: [{ subnet: site.subnet }] } } },
  services: {
    site: {
      image,
      entrypoint: ['node', '-e'],
      command: [siteProgram],
      networks: ['front'],
      healthcheck: { disable: true },
    },
  },
})

const inspect = (id, format, kind = 'container') => docker(kind, 'inspect', '--format', `{{${format}}}`, id)

/** Returns the container that has an address. */
async function containerOf(ids, address) {
  for (const id of ids) if ((await inspect(id, 'json .NetworkSettings.Networks')).includes(`"${address}"`)) return id
  throw new Error(`no container has the address ${address}`)
}

/** @throws Skip without Compose */
async function composeProgram() {
  for (const program of [['docker', 'compose'], ['docker-compose']])
    if (await run(program[0], [...program.slice(1), 'version']).then(() => true, () => false)) return program // prettier-ignore
  throw new Skip('Compose is not installed: apt-get install docker-compose')
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject).listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    }) // prettier-ignore
  })
}

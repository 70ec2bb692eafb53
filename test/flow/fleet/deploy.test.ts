/** The command lines of the Kubernetes manifests as real processes: probes, drain, metrics of KEDA and RBAC. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readScaling, scalerParams } from '../../../src/cli/serve/scaler-params.ts'
import { readParams } from '../../../src/lines/typed.ts'
import { attributeOf, flagOf } from '../../../src/lines/values.ts'
import { KubernetesScaler } from '../../../src/fleet/scaler/kubernetes.ts'
import { type BuiltBax, buildBax } from '../../support/cli.ts'
import { baxCommands, type Container, ofKind, podAddress, podOf, scaledObject } from '../../support/deploy-files.ts'
import { startKubernetesStandIn } from '../../support/kubernetes-api.ts'
import { titled } from '../../support/needs.ts'
import { freePort } from '../../support/ports.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'
import { request } from '../../support/server.ts'
import { servedWithinMs } from '../../support/served.ts'
import { waitUntil } from '../../support/wait.ts'

type Probe = Container['readinessProbe']

describe.skipIf(noRedis)(titled('gateway and worker as in the Kubernetes manifests', noRedis), () => {
  let redis: TestRedis
  let built: BuiltBax
  let folder: string
  let gateway: Process
  let worker: Process
  beforeAll(async () => {
    redis = await startRedis()
    built = await buildBax()
    folder = await mkdtemp(join(tmpdir(), 'bax-deploy-'))
    await writeFile(join(folder, 'secret'), 'x'.repeat(64), { mode: 0o600 })
    gateway = await start('keda gateway', 'bax-gateway')
    worker = await start('kubernetes worker', 'bax-worker')
  }, servedWithinMs)
  afterAll(async () => {
    for (const { running } of [gateway, worker]) running?.child.kill('SIGTERM')
    await Promise.all([gateway, worker].map(async (started) => started?.running.ended))
    await built?.close()
    await redis.close()
    await rm(folder, { recursive: true, force: true })
  })

  interface Process {
    readonly running: ReturnType<BuiltBax['start']>
    /** URL of a port of the container, by its name. */
    url(name: number | string): string
  }

  /** Starts a command line of a manifest on loopback, with free ports and the Redis of this test. */
  async function start(from: string, pod: string): Promise<Process> {
    const { argv, env } = baxCommands().find((command) => command.from === from)!
    const ports = new Map<string, { written: number; own: number }>()
    for (const { name, containerPort } of podOf(pod).containers[0].ports)
      ports.set(name, { written: containerPort, own: await freePort() })
    // Other addresses than loopback need a key, and these processes have none.
    const own = argv.map((word) => {
      const text = word.replaceAll(podAddress, '127.0.0.1').replace(/^0\.0\.0\.0$/, '127.0.0.1')
      for (const { written, own: port } of ports.values())
        if (new RegExp(`(?:^|:)${written}$`).test(text)) return text.replace(String(written), String(port))
      return text
    })
    const args = own.includes('--port') ? own : [...own, '--port', String(ports.get('http')!.own)]
    if (args[0] === 'serve') args.push('--no-keys')
    const settings = { BAX_FLEET: redis.url, BAX_SECRET_FILE: join(folder, 'secret') }
    expect(Object.keys(env).toSorted()).toEqual(Object.keys(settings).toSorted())
    const running = built.start(args, { cwd: folder, env: { ...settings, BAX_STATE_DIR: await built.stateDir() } })
    await running.waitForStderr('bax is listening on http://')
    return { running, url: (name) => `http://127.0.0.1:${ports.get(String(name))!.own}` }
  }

  const probe = ({ url }: Process, { httpGet }: Probe) =>
    fetch(url(httpGet!.port) + httpGet!.path).then(({ status }) => status)
  const [gatewayProbes] = podOf('bax-gateway').containers
  const [workerProbes] = podOf('bax-worker').containers
  const send = (method: string, path: string, body?: object) => request(gateway.url('http'), method, path, body)

  test('probes succeed, and that of the gateway as soon as a worker is ready', async () => {
    expect(await probe(worker, workerProbes.readinessProbe)).toBe(200)
    expect(await probe(worker, workerProbes.livenessProbe)).toBe(200)
    await waitUntil(async () => (await probe(gateway, gatewayProbes.readinessProbe)) === 200)
    expect(await probe(gateway, gatewayProbes.livenessProbe)).toBe(200)
  })

  test('the metrics of the gateway have the value by which KEDA scales', async () => {
    const { path, port, location } = kedaMetric()
    expect(port).toBe('metrics')
    const needed = async () => {
      const text = await (await fetch(gateway.url(port) + path)).text()
      return Number(new RegExp(`^${location} (\\S+)$`, 'm').exec(text)?.[1])
    }
    expect(await needed()).toBe(0)
    const { body, status } = await send('POST', '/sessions', {})
    expect([status, await needed()]).toEqual([200, 1])
    await send('DELETE', `/sessions/${body.session_id}`)
    await waitUntil(async () => (await needed()) === 0)
  })

  test('a drained worker stays alive, is not ready, and keeps its session', async () => {
    const { body: session } = await send('POST', '/sessions', {})
    const [{ worker_id }] = (await send('GET', '/fleet')).body.workers
    expect((await send('POST', `/fleet/workers/${worker_id}/drain`)).status).toBe(204)
    await waitUntil(async () => (await probe(worker, workerProbes.readinessProbe)) === 503)
    expect(await probe(worker, workerProbes.livenessProbe)).toBe(200)
    const commands = [{ command: 'get_title' }]
    expect((await send('POST', '/commands', { session_id: session.session_id, commands })).status).toBe(200)
    expect((await send('DELETE', `/sessions/${session.session_id}`)).status).toBe(204)
    // Kubernetes ends it, and before that it must not exit.
    expect(await probe(worker, workerProbes.livenessProbe)).toBe(200)
    worker.running.child.kill('SIGTERM')
    expect((await worker.running.ended).code).toBe(0)
  })
})

/** Where KEDA reads its metric: the port of the gateway behind the service of the URL, and the name of the metric. */
function kedaMetric() {
  const { metadata } = scaledObject.spec!.triggers![0]!
  const url = new URL(metadata['url']!)
  const service = ofKind('Service').find(({ metadata: { name } }) => name === url.hostname)!
  return { path: url.pathname, port: service.spec!.ports![0]!.targetPort, location: metadata['valueLocation']! }
}

describe('the role of the gateways (against a stand-in)', () => {
  test('allows every request of the scaler, and nothing else', async () => {
    const api = await startKubernetesStandIn()
    try {
      const { argv } = baxCommands().find(({ from }) => from === 'kubernetes gateway')!
      const typed = Object.values(scalerParams).map((param) => {
        const at = argv.indexOf(flagOf(param))
        return [attributeOf(param), at === -1 ? undefined : argv[at + 1]] as const
      })
      const { target } = readScaling(readParams(scalerParams, Object.fromEntries(typed), '/'), true)
      if (target.kind !== 'kubernetes') throw new Error('the manifest names another scaler')
      api.workloads.set(`default/${target.workload}/${target.name}`, { replicas: 3, readyReplicas: 1 })
      const scaler = new KubernetesScaler({ ...target, api: api.url, env: {} })
      expect(await scaler.current()).toBe(3)
      await scaler.want(1)
      await scaler.want(2)
      const needed = new Set(api.requests.map(permissionOf))
      const granted = ofKind('Role')[0]!.rules!.flatMap(({ apiGroups, resources, resourceNames, verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) =>
            resourceNames.flatMap((name) => verbs.map((verb) => `${verb} ${group}/${resource}/${name}`)),
          ),
        ),
      )
      expect([...needed].toSorted()).toEqual(granted.toSorted())
    } finally {
      await api.close()
    }
  })
})

/** Returns the permission that a request needs, as `VERB GROUP/RESOURCE/NAME`. */
function permissionOf(line: string): string {
  const pattern = /^(\S+) \/apis\/(\w+)\/v1\/namespaces\/default\/(\w+)\/([\w-]+)(\/\w+)?$/
  const [, method, group, resource, name, subresource = ''] = pattern.exec(line)!
  const verb = { GET: 'get', PATCH: 'patch', PUT: 'update', POST: 'create', DELETE: 'delete' }[method!]
  return `${verb} ${group}/${resource}${subresource}/${name}`
}

/** The files in scripts/deploy: they are valid YAML, and agree with the commands of bax and with each other. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { packages } from '../../scripts/image/build.js'
import { readScaling, scalerParams } from '../../src/cli/serve/scaler-params.ts'
import { readParams } from '../../src/lines/typed.ts'
import { attributeOf, flagOf } from '../../src/lines/values.ts'
import { limits } from '../../src/core/limits/limits.ts'
import { bax } from '../support/cli.ts'
import {
  baxCommands,
  compose,
  imageCommand,
  kedaPatch,
  type Manifest,
  manifests,
  ofKind,
  podAddress,
  podOf,
  readDeployFile,
  scaledObject,
  swarm,
  valueOf,
} from '../support/deploy-files.ts'

const stateDir = mkdtempSync(join(tmpdir(), 'bax-test-'))
afterAll(() => rmSync(stateDir, { recursive: true, force: true }))

const commands = baxCommands()
const commandOf = (from: string) => commands.find((command) => command.from === from)!
const workers = ['compose worker', 'swarm worker', 'kubernetes worker'].map(commandOf)

describe('commands of bax in deploy files', () => {
  // After all flags and settings were accepted, the secret file is missing on this machine.
  test.each(commands.map((command) => [command.from, command] as const))('%s', async (_, { argv, env }) => {
    const { code, stderr } = await bax(argv, { env: { ...env, BAX_STATE_DIR: stateDir } })
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`cannot read --secret-file ${env['BAX_SECRET_FILE']}: `),
    ])
  })

  test('a flag that does not exist would be noticed', async () => {
    const { argv, env } = commandOf('kubernetes gateway')
    const { stderr } = await bax([...argv, '--scale-mox', '3'], { env: { ...env, BAX_STATE_DIR: stateDir } })
    expect(stderr).toContain('unknown flag --scale-mox (did you mean --scale-max?)')
  })

  test('all members of a fleet name the same Redis', () => {
    for (const file of ['compose', 'swarm', 'kubernetes'])
      expect(commandOf(`${file} gateway`).env['BAX_FLEET']).toBe(commandOf(`${file} worker`).env['BAX_FLEET'])
    for (const { services } of [compose, swarm]) expect(services['redis']).toBeDefined()
    expect(ofKind('Service').map(({ metadata }) => `redis://${metadata.name}:6379`)).toContain(
      commandOf('kubernetes gateway').env['BAX_FLEET'],
    )
    for (const { argv } of workers) expect(valueOf(argv, '--host')).toBe(podAddress)
  })

  test('Redis keeps everything: append-only, and no eviction', () => {
    const redis = podOf('bax-redis').containers[0].args
    for (const args of [compose.services['redis']!.command, swarm.services['redis']!.command, redis]) {
      expect(valueOf(args, '--appendonly')).toBe('yes')
      expect(valueOf(args, '--maxmemory-policy')).toBe('noeviction')
    }
  })
})

describe('time to end', () => {
  const { secs } = limits.drain
  const graces = [
    ...[compose, swarm].map(({ services }) => services),
    Object.fromEntries(
      ['gateway', 'worker'].map((name) => {
        const { terminationGracePeriodSeconds } = podOf(`bax-${name}`)
        return [name, { stop_grace_period: `${terminationGracePeriodSeconds}s` }]
      }),
    ),
  ]
  test('workers and gateways have more than they use to drain', () => {
    for (const [at, services] of graces.entries()) {
      const drainSecs = Number(valueOf(workers[at]!.argv, '--drain-secs'))
      expect(drainSecs).toBeLessThanOrEqual(limits.drain.maxSecs)
      expect(Number.parseInt(services['worker']!.stop_grace_period!)).toBeGreaterThan(drainSecs)
      expect(Number.parseInt(services['gateway']!.stop_grace_period!)).toBeGreaterThan(secs)
    }
    expect(commands.filter(({ argv }) => argv[0] === 'serve' && argv.includes('--drain-secs'))).toEqual([])
  })
})

const nameOf = (secret: string | { readonly source: string }) => (typeof secret === 'string' ? secret : secret.source)

describe.each([
  ['compose.yaml', compose],
  ['swarm-stack.yaml', swarm],
])('%s', (_, stack) => {
  test('declares its networks and secrets', () => {
    for (const { networks, secrets = [], image } of Object.values(stack.services)) {
      expect(image).toBeTruthy()
      expect(Object.keys(stack.networks)).toEqual(expect.arrayContaining(networks))
      expect(Object.keys(stack.secrets)).toEqual(expect.arrayContaining(secrets.map(nameOf)))
    }
    for (const name of ['gateway', 'worker']) {
      const { secrets, environment } = stack.services[name]!
      expect(environment!['BAX_SECRET_FILE']).toBe(`/run/secrets/${nameOf(secrets![0]!)}`)
    }
  })

  test('checks the health of workers at the address of their metrics', () => {
    const { healthcheck } = stack.services['worker']!
    const url = /fetch\('http:\/\/([\d.]+:\d+)\/metrics'\)/.exec(healthcheck!.test.at(-1)!)![1]
    for (const { from, argv } of workers.slice(0, 2)) expect([from, valueOf(argv, '--metrics')]).toEqual([from, url])
  })
})

test('Compose allows the system calls of Chromium’s sandbox, with the file that the guide names', () => {
  for (const name of ['gateway', 'worker'])
    expect(compose.services[name]!.security_opt).toEqual(['seccomp=../image/seccomp.json', 'no-new-privileges'])
})

describe('Kubernetes', () => {
  const gateway = podOf('bax-gateway')
  const worker = podOf('bax-worker')
  const pods = manifests.flatMap(({ spec }) => (spec?.template ? [spec.template] : []))
  const withLabels = (labels: Readonly<Record<string, unknown>>) =>
    pods.filter((pod) => Object.entries(labels).every(([key, value]) => pod.metadata.labels[key] === value))

  test('every selector selects pods, whose ports have the names that are used', () => {
    const portsOf = (labels: Readonly<Record<string, unknown>>) => {
      const selected = withLabels(labels)
      expect([labels, selected.length]).toEqual([labels, 1])
      return selected[0]!.spec.containers[0].ports.map(({ name }) => name)
    }
    for (const { spec, kind } of manifests) {
      if (kind === 'Service')
        for (const { targetPort } of spec!.ports!) expect(portsOf(spec!.selector!)).toContain(targetPort)
      if (spec?.selector?.matchLabels) portsOf(spec.selector.matchLabels)
      if (spec?.template) expect(spec.selector!.matchLabels).toEqual(spec.template.metadata.labels)
      for (const { ports, from = [] } of spec?.ingress ?? []) {
        for (const { port } of ports) expect(portsOf(spec!.podSelector!.matchLabels!)).toContain(port)
        for (const { podSelector } of from) {
          const names = podSelector?.matchExpressions?.flatMap(({ key, values }) =>
            values.map((value) => ({ [key]: value })),
          )
          for (const labels of names ?? [podSelector?.matchLabels ?? {}]) if (podSelector) portsOf(labels)
        }
      }
    }
    expect(ofKind('StatefulSet')[0]!.spec!.serviceName).toBe(ofKind('StatefulSet')[0]!.metadata.name)
  })

  test('ports are those that bax listens on', () => {
    const port = ({ containers: [{ ports }] }: typeof gateway, name: string) =>
      ports.find((found) => found.name === name)!.containerPort
    const { argv } = commandOf('kubernetes worker')
    expect(port(worker, 'http')).toBe(Number(valueOf(argv, '--port')))
    expect(`${podAddress}:${port(worker, 'metrics')}`).toBe(valueOf(argv, '--metrics'))
    for (const from of ['kubernetes gateway', 'keda gateway'])
      expect(`${podAddress}:${port(gateway, 'metrics')}`).toBe(valueOf(commandOf(from).argv, '--metrics'))
    // The default of --port, which the image exposes.
    expect(port(gateway, 'http')).toBe(4100)
    expect(readDeployFile('Dockerfile')).toMatch(/^EXPOSE 4100 4200$/m)
  })

  test('secrets and folders that bax uses are mounted', () => {
    for (const {
      containers: [{ env, volumeMounts, readinessProbe, livenessProbe, ports }],
      volumes,
    } of [gateway, worker]) {
      const mounted = volumeMounts.map(({ mountPath }) => mountPath)
      const secretFile = env.find(({ name }) => name === 'BAX_SECRET_FILE')!.value!
      const mount = volumeMounts.find(({ mountPath }) => secretFile === `${mountPath}/secret`)!
      expect(volumes!.find(({ name }) => name === mount.name)).toMatchObject({ secret: { secretName: 'bax-fleet' } })
      expect(volumes!.map(({ name }) => name).toSorted()).toEqual(volumeMounts.map(({ name }) => name).toSorted())
      expect(mounted).toEqual(expect.arrayContaining(['/var/lib/bax', '/tmp']))
      for (const { httpGet } of [readinessProbe, livenessProbe])
        expect(ports.map(({ name }) => name)).toContain(httpGet!.port)
    }
    expect(readDeployFile('README.md')).toContain('kubectl create secret generic bax-fleet --from-file=secret=')
  })

  test('nothing runs as root, and the user of bax is that of the image', () => {
    expect(readDeployFile('Dockerfile')).toMatch(/^USER 10001:10001$/m)
    for (const { securityContext } of [gateway, worker])
      expect(securityContext).toMatchObject({ runAsUser: 10_001, fsGroup: 10_001 })
    for (const { spec } of pods) {
      expect(spec.securityContext.runAsNonRoot).toBe(true)
      expect(spec.containers[0].securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
    }
  })

  test('workers that drained stay, because they would be started again', () => {
    expect(valueOf(commandOf('kubernetes worker').argv, '--when-drained')).toBe('stay')
  })
})

/** Returns the options of the scaler, as `bax serve` reads them. */
const scalingOf = (from: string) => {
  const { argv } = commandOf(from)
  const typed = Object.values(scalerParams).map((param) => [attributeOf(param), valueOf(argv, flagOf(param))] as const)
  return readScaling(readParams(scalerParams, Object.fromEntries(typed), '/'), true)
}

test.each(['compose worker', 'swarm worker', 'kubernetes worker'])(
  '%s offers no shell sessions, which need Docker',
  (from) => {
    expect(valueOf(commandOf(from).argv, '--labels')).toBe('browser,render,relay')
  },
)

describe('scalers', () => {
  const isWorkload = ({ kind, metadata }: Manifest, wanted: { kind: string; name: string }) =>
    kind.toLowerCase() === wanted.kind.toLowerCase() && metadata.name === wanted.name

  test('that of the Swarm names a service which does not restart drained workers', () => {
    // Services have the name of the stack, which the first comment of the file and README.md deploy as `bax`.
    expect(scalingOf('swarm gateway').target).toEqual({ kind: 'docker', service: 'bax_worker' })
    expect(swarm.services['worker']!.deploy!.restart_policy).toEqual({ condition: 'on-failure' })
    const { volumes } = swarm.services['gateway']!
    expect(volumes).toContainEqual(expect.objectContaining({ target: '/var/run/docker.sock' }))
    for (const file of ['swarm-stack.yaml', 'README.md'])
      expect(readDeployFile(file)).toMatch(/docker stack deploy .*swarm-stack\.yaml bax\b/)
  })

  test('that of Kubernetes names the workers, whose role is bound to the gateways', () => {
    const { target } = scalingOf('kubernetes gateway')
    expect(target).toEqual({ kind: 'kubernetes', workload: 'deployment', name: 'bax-worker' })
    const [role] = ofKind('Role')
    const [binding] = ofKind('RoleBinding')
    expect(binding!.roleRef).toMatchObject({ kind: 'Role', name: role!.metadata.name })
    const [account] = ofKind('ServiceAccount')
    expect(binding!.subjects).toEqual([{ kind: 'ServiceAccount', name: account!.metadata.name }])
    expect(podOf('bax-gateway').serviceAccountName).toBe(account!.metadata.name)
  })

  test('KEDA scales the same workers, and the gateways then do not', () => {
    const { scaleTargetRef, triggers, minReplicaCount, maxReplicaCount } = scaledObject.spec!
    expect(manifests.some((manifest) => isWorkload(manifest, scaleTargetRef!))).toBe(true)
    expect(scalingOf('keda gateway').target.kind).toBe('none')
    const { min, max } = scalingOf('kubernetes gateway')
    expect([minReplicaCount, maxReplicaCount]).toEqual([min, max])
    const url = new URL(triggers![0]!.metadata['url']!)
    const service = ofKind('Service').find(({ metadata }) => metadata.name === url.hostname)!
    expect(String(service.spec!.ports![0]!.port)).toBe(url.port)
    expect(kedaPatch.spec!.template!.spec.containers[0].name).toBe(podOf('bax-gateway').containers[0].name)
  })
})

describe('the Dockerfile', () => {
  test('copies what the package contains, and installs what the image of `npm run image` does', () => {
    const { files } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      files: string[]
    }
    for (const name of files.filter((file) => file !== 'README.md'))
      expect(readDeployFile('Dockerfile')).toContain(`/opt/bax/${name}`)
    expect(readDeployFile('Dockerfile')).toContain(`${packages.join(' ')} \\\n`)
  })

  test('starts a server whose port its health check uses', () => {
    expect(imageCommand).toEqual(['serve', '--host', '0.0.0.0'])
    expect(readDeployFile('Dockerfile')).toContain('http://127.0.0.1:4100/healthz')
  })
})

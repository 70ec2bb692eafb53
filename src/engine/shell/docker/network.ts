/**
 * Networks of sessions. A Docker bridge reaches the host by its gateway and all of its addresses, and other containers.
 * Therefore routing rules inside the network of the session block these before the first program runs; no program there
 * has the privileges to change them.
 */
import type Dockerode from 'dockerode'
import { networkInterfaces } from 'node:os'
import { BaxError } from '../../../core/errors/errors.ts'
import { attach } from './attach.ts'
import { type EngineIdentity, labels, labelsOf } from './engine-identity.ts'
import { ignoreStatuses } from './errors.ts'
import { agentPath } from './host-config.ts'

/** Non-public ranges: private, shared, loopback, link-local (metadata), documentation, multicast, reserved. */
const blockedRanges = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // The bridge has no IPv6; if a daemon adds it anyway, it leads nowhere.
  '::/0',
]

/** Lists the bridges of an engine: one, or two if they were created at the same moment. */
const bridgesOf = (docker: Dockerode, engine: string) =>
  docker.listNetworks({ filters: JSON.stringify({ label: [`${labels.engine}=${engine}`] }) })

/** Returns the ID of the bridge of this engine, and creates it if needed. Sessions on it cannot reach each other. */
export async function ensureNetwork(docker: Dockerode, identity: EngineIdentity): Promise<string> {
  const { engine } = identity
  const [found] = await bridgesOf(docker, engine)
  if (found) return found.Id
  const { id } = await docker.createNetwork({
    Name: `bax-${engine.slice(0, 12)}`,
    Driver: 'bridge',
    EnableIPv6: false,
    Labels: labelsOf(identity),
    Options: { 'com.docker.network.bridge.enable_icc': 'false' },
  })
  return id
}

/** Removes the bridges, except one in use by an engine of the same folder. */
export async function dropNetworks(docker: Dockerode, engine: string): Promise<void> {
  const bridges = await bridgesOf(docker, engine)
  await Promise.all(bridges.map(({ Id }) => ignoreStatuses([403, 404, 409], docker.getNetwork(Id).remove())))
}

interface Target {
  /** Docker's ID of the running container of the session. */
  readonly container: string
  /** Image with the agent. */
  readonly image: string
  readonly labels: Record<string, string>
}

/** Blocks all but the public internet for a session. @throws BaxError `docker_unavailable`: it must not be used then. */
export async function isolateNetwork(docker: Dockerode, { container, ...shared }: Target): Promise<void> {
  const survey = await runOnce(docker, { ...shared, command: ['survey'], network: 'host', capabilities: [] })
  const lines = survey.stdout.split('\n').map((line) => line.split(' '))
  const addressesOf = (kind: string) => lines.flatMap(([word, address]) => (word === kind && address ? [address] : []))
  const local = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .map(({ address }) => address)
  const hosts = [...new Set([...addressesOf('address'), ...local])].filter(
    (address) => !address.includes(':') && !address.startsWith('127.'),
  )
  // A resolver may be in a blocked range: only its DNS port stays reachable.
  const resolvers = addressesOf('resolver').filter((address) => !address.includes(':') && !address.startsWith('127.'))
  const command = ['fence', 'deny', ...blockedRanges, ...hosts, 'ask', ...resolvers]
  const fencing = await runOnce(docker, {
    ...shared,
    command,
    network: `container:${container}`,
    capabilities: ['NET_ADMIN'],
  })
  if (survey.code !== 0 || fencing.code !== 0 || fencing.stdout.trim() !== 'fenced')
    throw new BaxError(
      'docker_unavailable',
      `cannot isolate the session's network from the host: ${fencing.stderr.trim() || survey.stderr.trim()}`,
      { hint: "create the session with network 'none'" },
    )
}

interface OneShot extends Pick<Target, 'image' | 'labels'> {
  readonly command: readonly string[]
  readonly network: string
  readonly capabilities: readonly string[]
}

/** Runs one of the agent's commands in a temporary container. */
async function runOnce(docker: Dockerode, options: OneShot): Promise<{ code: number; stdout: string; stderr: string }> {
  const container = await docker.createContainer({
    Image: options.image,
    Entrypoint: [agentPath],
    Cmd: [...options.command],
    User: '0:0',
    WorkingDir: '/',
    Labels: options.labels,
    Healthcheck: { Test: ['NONE'] },
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    StdinOnce: true,
    HostConfig: {
      NetworkMode: options.network,
      CapDrop: ['ALL'],
      CapAdd: [...options.capabilities],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      PidsLimit: 16,
      Memory: 64 * 1024 * 1024,
      LogConfig: { Type: 'none', Config: {} },
    },
  })
  let stdout = ''
  let stderr = ''
  try {
    const attached = await attach(docker, container.id, {
      stdout: (bytes) => void (stdout += bytes.toString()),
      stderr: (text) => void (stderr += text),
    })
    await container.start()
    await attached.closed
    const { StatusCode: code } = (await container.wait()) as { StatusCode: number }
    return { code, stdout, stderr }
  } finally {
    await ignoreStatuses([404, 409], container.remove({ force: true, v: true }))
  }
}

/**
 * Sessions with a network. A bridge of Docker's reaches the host by its gateway and every address it has, and other
 * containers; so before its first program a session's own network is told where it may not go. Rules of the route
 * decide it, in the session's network, where nobody has the right to change them.
 */
import { networkInterfaces } from 'node:os'
import type { DockerConnection } from './connection.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { type EngineIdentity, labels } from './engine-identity.ts'
import { unless } from './faults.ts'
import { runOnce } from './one-shot.ts'

/** What is not the public internet: private, shared, loopback, link-local (metadata), documentation, multicast, reserved. */
const notPublic = [
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
  // The bridge is made without IPv6; should a daemon give one all the same, it leads nowhere.
  '::/0',
]

/** The bridges of an engine; one is enough, and two that began at the same instant may have made two. */
const bridgesOf = ({ docker }: DockerConnection, engine: string) =>
  docker.listNetworks({ filters: JSON.stringify({ label: [`${labels.engine}=${engine}`] }) })

/** Id of the bridge that sessions of this engine share, and on which they cannot see each other; made when it is not there. */
export async function ensureNetwork(connection: DockerConnection, { engine, owner }: EngineIdentity): Promise<string> {
  const [found] = await bridgesOf(connection, engine)
  if (found) return found.Id
  const { id } = await connection.docker.createNetwork({
    Name: `bax-${engine.slice(0, 12)}`,
    Driver: 'bridge',
    EnableIPv6: false,
    Labels: { [labels.engine]: engine, [labels.owner]: owner },
    Options: { 'com.docker.network.bridge.enable_icc': 'false' },
  })
  return id
}

/** Removes the bridges, but for one that an engine of the same folder uses. */
export async function dropNetworks(connection: DockerConnection, engine: string): Promise<void> {
  const bridges = await bridgesOf(connection, engine)
  await Promise.all(bridges.map(({ Id }) => unless([403, 404, 409], connection.docker.getNetwork(Id).remove())))
}

interface Fenced {
  /** Docker's id of the session's container, which runs. */
  readonly container: string
  /** An image with the agent. */
  readonly image: string
  readonly labels: Record<string, string>
}

/** Closes a session's network to all but the public internet. @throws BaxError `internal_error`; the session must not be used then. */
export async function fence({ docker }: DockerConnection, { container, image, labels: ours }: Fenced): Promise<void> {
  const common = { image, labels: ours }
  const survey = await runOnce(docker, { ...common, command: ['survey'], network: 'host', capabilities: [] })
  const lines = survey.stdout.split('\n').map((line) => line.split(' '))
  const named = (kind: string) => lines.flatMap(([word, address]) => (word === kind && address ? [address] : []))
  const own = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .map(({ address }) => address)
  const hosts = [...new Set([...named('address'), ...own])].filter(
    (address) => !address.includes(':') && !address.startsWith('127.'),
  )
  // A resolver may stand in a closed range; it is asked, and nothing else of it is reached.
  const resolvers = named('resolver').filter((address) => !address.includes(':') && !address.startsWith('127.'))
  const command = ['fence', 'deny', ...notPublic, ...hosts, 'ask', ...resolvers]
  const done = await runOnce(docker, {
    ...common,
    command,
    network: `container:${container}`,
    capabilities: ['NET_ADMIN'],
  })
  if (survey.code !== 0 || done.code !== 0 || done.stdout.trim() !== 'fenced')
    throw new BaxError(
      'internal_error',
      `the session's network could not be closed to the host: ${done.stderr.trim() || survey.stderr.trim()}`,
      {
        hint: "create the session with network 'none'",
      },
    )
}

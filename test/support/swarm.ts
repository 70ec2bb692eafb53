/** A Swarm of this machine alone, for tests; it is left again afterwards. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { waitUntil } from './wait.ts'

const run = promisify(execFile)

/** Returns the output of Docker's CLI. */
export const docker = async (...args: string[]): Promise<string> => (await run('docker', args)).stdout.trim()

/** Returns why no Swarm can be created here; null if one can. */
export async function noSwarm(image: string): Promise<string | null> {
  try {
    const state = await docker('info', '--format', '{{.Swarm.LocalNodeState}}')
    if (state !== 'inactive') return 'this Docker already belongs to a Swarm'
    await docker('image', 'inspect', image)
    return null
  } catch {
    return `Docker or its image ${image} is missing; npm run setup installs what it can`
  }
}

/** Returns false if the error is that there is a Swarm already; throws others. */
function isPartOfSwarm(error: Error): false {
  if (error.message.includes('already part of a swarm')) return false
  throw error
}

/** Creates a Swarm that only this machine can reach; returns a function that ends it and its services. */
export async function startSwarm(): Promise<() => Promise<void>> {
  // Swarm leaves this network behind.
  const bridge = 'docker_gwbridge'
  let hadBridge: boolean
  // Another run of these tests may have one at the moment.
  await waitUntil(async () => {
    hadBridge = (await docker('network', 'ls', '--format', '{{.Name}}')).split('\n').includes(bridge)
    return docker('swarm', 'init', '--advertise-addr', '127.0.0.1').then(() => true, isPartOfSwarm)
  })
  return async () => {
    await docker('swarm', 'leave', '--force')
    if (!hadBridge) await docker('network', 'rm', bridge)
  }
}

/** A Swarm of this machine alone, for tests; it is left again afterwards. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

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

/** Creates a Swarm that only this machine can reach; returns a function that ends it and its services. */
export async function startSwarm(): Promise<() => Promise<void>> {
  // Swarm leaves this network behind.
  const bridge = 'docker_gwbridge'
  const hadBridge = (await docker('network', 'ls', '--format', '{{.Name}}')).split('\n').includes(bridge)
  await docker('swarm', 'init', '--advertise-addr', '127.0.0.1')
  return async () => {
    await docker('swarm', 'leave', '--force')
    if (!hadBridge) await docker('network', 'rm', bridge)
  }
}

/** Everything that Docker is told about a container. No field of it comes from a request except through `ContainerSpec`. */
import type { ContainerCreateOptions, HostConfig } from 'dockerode'
import type { ContainerSpec } from '../container.ts'

const mebibyte = 1024 * 1024
/** /dev/shm, which browsers and Python's multiprocessing use. */
const sharedMemoryMb = 64
/** Process 1 and its threads, which are not the session's. */
const agentProcesses = 24
/** The user of every program in a session. */
const user = { uid: 1000, gid: 1000 }

export const agentPath = '/.bax/agent'

export interface ContainerPlan {
  readonly spec: ContainerSpec
  /** Id of the image that has the agent. */
  readonly image: string
  /** Paths that the image declares as volumes: they would be disk without a limit. */
  readonly volumes: readonly string[]
  readonly network: string
  readonly labels: Record<string, string>
  readonly podman: boolean
}

/** What a container is created with. */
export function createOptions(plan: ContainerPlan): ContainerCreateOptions {
  return {
    Image: plan.image,
    User: `${user.uid}:${user.gid}`,
    WorkingDir: '/workspace',
    Entrypoint: [agentPath],
    Cmd: [],
    Hostname: 'bax',
    Labels: plan.labels,
    Healthcheck: { Test: ['NONE'] },
    Tty: false,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    // The container's input ends with our connection, however we end: its first process, and it, go then.
    StdinOnce: true,
    HostConfig: hostConfig(plan),
  }
}

function hostConfig({ spec, volumes, network, podman }: ContainerPlan): HostConfig {
  const { memoryMb, cpus, pids } = spec.limits
  const mounts = tmpfsMounts(spec, volumes)
  // A tmpfs is memory. With its size on top of the limit a full disk is ENOSPC, and no killed process.
  const memory = (memoryMb + sharedMemoryMb + [...mounts.values()].reduce((sum, mb) => sum + mb, 0)) * mebibyte
  return {
    AutoRemove: true,
    NetworkMode: network,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    Privileged: false,
    ReadonlyRootfs: true,
    IpcMode: 'private',
    Memory: memory,
    MemorySwap: memory,
    NanoCpus: Math.round(cpus * 1e9),
    PidsLimit: pids + agentProcesses,
    ShmSize: sharedMemoryMb * mebibyte,
    Tmpfs: Object.fromEntries([...mounts].map(([path, mb]) => [path, tmpfsOptions(path, mb, podman)])),
    Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }],
    LogConfig: { Type: 'none', Config: {} },
  }
}

/** Writable folders and their sizes in MiB. */
function tmpfsMounts({ limits, outputMounts }: ContainerSpec, volumes: readonly string[]): Map<string, number> {
  return new Map([
    ...volumes.map((path): [string, number] => [path, limits.tmpMb]),
    ['/tmp', limits.tmpMb],
    ['/workspace', limits.workspaceMb],
    ...outputMounts.map((path): [string, number] => [path, limits.outputMb]),
  ])
}

function tmpfsOptions(path: string, mb: number, podman: boolean): string {
  const options = ['rw', 'exec', 'nosuid', 'nodev', `size=${mb}m`]
  const mode = `mode=${path === '/tmp' || podman ? 1777 : '0755'}`
  // Podman knows no owner of a tmpfs.
  return [...options, mode, ...(podman ? [] : [`uid=${user.uid}`, `gid=${user.gid}`])].join(',')
}

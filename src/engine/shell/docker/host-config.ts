/** Builds the Docker options of a container. Requests only influence them through `ContainerSpec`. */
import type { ContainerCreateOptions, HostConfig } from 'dockerode'
import type { ContainerSpec } from '../container.ts'

const mebibyte = 1024 * 1024
/** Size of /dev/shm, which browsers and Python's multiprocessing use. */
const sharedMemory: Disk = { mb: 64, files: 1000 }
/** Kernel memory of a file or directory with a long name, in bytes. */
const bytesPerFile = 1536
const pageBytes = 4096
/** Process 1 and its threads, which do not count against the session's limit. */
const agentProcesses = 24
/** User of every program in a session. */
const user = { uid: 1000, gid: 1000 }

export const agentPath = '/.bax/agent'

export interface ContainerPlan {
  readonly spec: ContainerSpec
  /** ID of the image with the agent. */
  readonly image: string
  /** Volumes declared by the image, which would be disks without a limit. */
  readonly volumes: readonly string[]
  readonly network: string
  readonly labels: Record<string, string>
  readonly podman: boolean
}

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
    // When our connection ends, for any reason, so do its input, its first process and the container.
    StdinOnce: true,
    HostConfig: hostConfig(plan),
  }
}

function hostConfig({ spec, volumes, network, podman }: ContainerPlan): HostConfig {
  const { memoryMb, cpus, pids } = spec.limits
  const disks = disksOf(spec, volumes)
  const sumOf = (of: (disk: Disk) => number) => [...disks.values()].reduce((total, disk) => total + of(disk), 0)
  // A tmpfs uses memory. Its size is added to the limit, so that a full disk causes ENOSPC instead of killing a
  // process. Its files use kernel memory, too: without room for them the kernel could only kill the agent.
  const kernelBytes = sumOf(({ files }) => files) * bytesPerFile
  const memory = (memoryMb + sumOf(({ mb }) => mb)) * mebibyte + Math.max(0, kernelBytes - (memoryMb / 2) * mebibyte)
  return {
    AutoRemove: true,
    NetworkMode: network,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    Privileged: false,
    ReadonlyRootfs: true,
    // Podman does not support `nr_inodes`, so it keeps its own /dev/shm.
    IpcMode: podman ? 'private' : 'none',
    ...(!podman && { Sysctls: sharedMemorySysctls }),
    Memory: memory,
    MemorySwap: memory,
    NanoCpus: Math.round(cpus * 1e9),
    PidsLimit: pids + agentProcesses,
    ...(podman && { ShmSize: sharedMemory.mb * mebibyte }),
    Tmpfs: Object.fromEntries(
      [...disks]
        .filter(([path]) => !podman || path !== sharedMemoryPath)
        .map(([path, disk]) => [path, tmpfsOptions(path, disk, podman)]),
    ),
    Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }],
    LogConfig: { Type: 'none', Config: {} },
  }
}

interface Disk {
  readonly mb: number
  /** Maximum number of files and directories. */
  readonly files: number
}

const sharedMemoryPath = '/dev/shm'

/** Limits of System V objects, which outlive the processes that created them and use memory. */
const sharedMemorySysctls = {
  'kernel.shmall': String((sharedMemory.mb * mebibyte) / pageBytes),
  'kernel.shmmni': '1024',
  'kernel.msgmni': '64',
  'kernel.sem': '250 32000 100 128',
}

/** Returns the writable folders. */
function disksOf({ limits, outputMounts }: ContainerSpec, volumes: readonly string[]): Map<string, Disk> {
  const { tmpMb, tmpFiles, workspaceMb, workspaceFiles, outputMb, outputFiles } = limits
  return new Map<string, Disk>([
    [sharedMemoryPath, sharedMemory],
    ...volumes.map((path): [string, Disk] => [path, { mb: tmpMb, files: tmpFiles }]),
    ['/tmp', { mb: tmpMb, files: tmpFiles }],
    ['/workspace', { mb: workspaceMb, files: workspaceFiles }],
    ...outputMounts.map((path): [string, Disk] => [path, { mb: outputMb, files: outputFiles }]),
  ])
}

function tmpfsOptions(path: string, { mb, files }: Disk, podman: boolean): string {
  const isShared = path === '/tmp' || path === sharedMemoryPath || podman
  const options = ['rw', path === sharedMemoryPath ? 'noexec' : 'exec', 'nosuid', 'nodev', `size=${mb}m`]
  const mode = `mode=${isShared ? 1777 : '0755'}`
  // Podman does not support an owner or a file limit for a tmpfs.
  return [...options, mode, ...(podman ? [] : [`nr_inodes=${files}`, `uid=${user.uid}`, `gid=${user.gid}`])].join(',')
}

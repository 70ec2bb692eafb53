/** Everything that Docker is told about a container. No field of it comes from a request except through `ContainerSpec`. */
import type { ContainerCreateOptions, HostConfig } from 'dockerode'
import type { ContainerSpec } from '../container.ts'

const mebibyte = 1024 * 1024
/** /dev/shm, which browsers and Python's multiprocessing use. */
const sharedMemory: Disk = { mb: 64, files: 1000 }
/** Kernel memory of a file or directory with a long name. */
const bytesPerFile = 1536
const pageBytes = 4096
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
  const disks = disksOf(spec, volumes)
  const sum = (of: (disk: Disk) => number) => [...disks.values()].reduce((total, disk) => total + of(disk), 0)
  // A tmpfs is memory. With its size on top of the limit a full disk is ENOSPC, and no killed process. Its files are
  // kernel memory as well: without room for all of them and for programs the kernel would have only the agent to kill.
  const ofFiles = sum(({ files }) => files) * bytesPerFile
  const memory = (memoryMb + sum(({ mb }) => mb)) * mebibyte + Math.max(0, ofFiles - (memoryMb / 2) * mebibyte)
  return {
    AutoRemove: true,
    NetworkMode: network,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    Privileged: false,
    ReadonlyRootfs: true,
    // Podman takes no `nr_inodes`, and so keeps its own /dev/shm.
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
  /** Files and directories. */
  readonly files: number
}

const sharedMemoryPath = '/dev/shm'

/** System V objects outlive the processes that made them, and are memory as well. */
const sharedMemorySysctls = {
  'kernel.shmall': String((sharedMemory.mb * mebibyte) / pageBytes),
  'kernel.shmmni': '1024',
  'kernel.msgmni': '64',
  'kernel.sem': '250 32000 100 128',
}

/** Writable folders. */
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
  // Podman knows no owner of a tmpfs, and no limit of its files.
  return [...options, mode, ...(podman ? [] : [`nr_inodes=${files}`, `uid=${user.uid}`, `gid=${user.gid}`])].join(',')
}

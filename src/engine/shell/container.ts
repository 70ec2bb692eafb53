/**
 * Interface below shell sessions: a confined container, its programs and its files. It deals in exact bytes and facts;
 * the layers above (`exec`, `files`, `artifacts`) decide what users see. Implemented by `docker/` (containers, see
 * `createContainers`) and `agent/` (inside a container).
 */
import { BaxError } from '../../core/errors/errors.ts'
import type { ContainerExec, ExecSpec } from './container-exec.ts'
import type { ContainerFiles } from './container-files.ts'

/** Containers of one engine. Connects at the first call. */
export interface ShellContainers {
  /**
   * Returns a running container, from the warm pool if one of the same kind is ready; `signal` cancels.
   * @throws BaxError `docker_unavailable` (hint: what to start), `image_not_found`, `no_capacity`.
   */
  create(spec: ContainerSpec, signal?: AbortSignal): Promise<ShellContainer>
  /** Returns endpoint and version of Docker. @throws BaxError `docker_unavailable`. */
  status(): Promise<DockerStatus>
  readonly images: ShellImages
  /** Removes every container of this engine, including warm ones; safe to call twice. */
  close(): Promise<void>
}

export interface DockerStatus {
  /** `unix:///var/run/docker.sock` */
  readonly endpoint: string
  readonly kind: 'docker' | 'podman'
  readonly version: string
  readonly apiVersion: string
  /** Number of running containers of this engine: in sessions, and warm. */
  readonly containers: number
  readonly warm: number
}

/** Everything that a request can set for a container; no Docker options are passed through. */
export interface ContainerSpec {
  /** Value of the label `bax.session` of a container created for a session; never shown to users as a Docker name. */
  readonly sessionId: string
  /** Image name, as accepted by `images.find`. */
  readonly image: string
  readonly network: 'none' | 'bridge'
  /** Absolute, normalized, disjoint paths, each a tmpfs of `outputMb`. `/workspace` and `/tmp` always exist. */
  readonly outputMounts: readonly string[]
  readonly limits: ContainerLimits
}

interface ContainerLimits {
  readonly memoryMb: number
  readonly cpus: number
  readonly pids: number
  readonly workspaceMb: number
  readonly outputMb: number
  readonly tmpMb: number
  /** Maximum number of files and directories in /workspace, each output mount, and /tmp. */
  readonly workspaceFiles: number
  readonly outputFiles: number
  readonly tmpFiles: number
}

export interface ShellImages {
  /** Lists local images that sessions may use: bax's own and those on the allow-list. */
  list(): Promise<ShellImage[]>
  /** @throws BaxError `image_not_found` (hint: how to build or pull it); never pulls. */
  find(name: string): Promise<ShellImage>
  /** Pulls from a registry. @throws BaxError `image_not_found` if the registry is unreachable or lacks the image. */
  pull(name: string, options: { report?: (line: string) => void; signal?: AbortSignal }): Promise<ShellImage>
  /**
   * Builds one of bax's own images on this machine (`default`: Debian with Python, Node, git; `busybox`: 2 MB).
   * @throws BaxError `image_failed` with the missing tool, or the last lines of its output.
   */
  build(which: OwnImage, options: { report?: (line: string) => void; signal?: AbortSignal }): Promise<ShellImage>
}

export type OwnImage = 'default' | 'busybox'
/** Names of bax's own images. */
export const ownImages: Record<OwnImage, string> = { default: 'bax-shell:default', busybox: 'bax-shell:busybox' }

export interface ShellImage {
  /** `bax-shell:default` */
  readonly name: string
  /** Docker's image ID; not for users. */
  readonly id: string
  readonly sizeBytes: number
  readonly createdAt: string
}

/** Running container. Every method throws BaxError `session_lost` once it is gone. */
export interface ShellContainer {
  /** Finds programs in the image, cached: names to absolute paths. */
  which(programs: readonly string[]): Promise<ReadonlyMap<string, string>>
  /**
   * Starts a program; resolves when it runs, or could not be executed: then `exit` has code 126 or 127, with the reason
   * on stderr.
   * @throws ContainerError `EAGAIN` when the process limit is reached by programs that use no more than their share of
   * it (others are killed to make room), `ENOENT`/`ENOTDIR`/`EACCES` for `cwd`.
   */
  exec(spec: ExecSpec): Promise<ContainerExec>
  readonly files: ContainerFiles
  /**
   * Kills every process except the agent and returns their number; files stay, running programs end with SIGKILL.
   * @throws ContainerError `ETIMEDOUT` if some are still alive after 5 s.
   */
  killAll(): Promise<number>
  /** Resolves (never rejects) when the container is gone for any reason, including `remove`. */
  readonly died: Promise<ContainerEnd>
  /** Null while it runs. */
  readonly end: ContainerEnd | null
  /** Kills and removes the container with its contents; resolves when Docker has removed it. Safe to call twice. */
  remove(): Promise<void>
}

export interface ContainerEnd {
  /** `removed` by us; `exited`: its first process ended; `paused`: paused externally; `unreachable`: Docker is gone. */
  readonly reason: 'removed' | 'exited' | 'paused' | 'unreachable'
  readonly message: string
}

/** Error of the system inside the container; `code` is its name. Upper layers decide what users see. */
export class ContainerError extends Error {
  /** `ENOENT`, `EACCES`, `ENOSPC`, … */
  readonly code: string
  /** Failed operation, such as `open`. */
  readonly during: string

  constructor(code: string, during: string) {
    super(`${during}: ${code}`)
    this.name = 'ContainerError'
    this.code = code
    this.during = during
  }
}

/** Returns the error of every call on a container that is gone. */
export const sessionLost = (end: ContainerEnd): BaxError =>
  new BaxError('session_lost', end.message, {
    hint: 'create a new session',
    details: { reason: end.reason },
  })

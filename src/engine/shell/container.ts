/**
 * What a shell session stands on: a confined container, the programs it runs and the files it holds. Exact bytes and
 * plain facts only: what is shown to users, and in which words, is decided above (`exec`, `files`, `artifacts`).
 * Implemented by `docker/` (containers; made by `createContainers` there) and `agent/` (what happens inside one).
 */
import { BaxError } from '../../core/errors/errors.ts'
import type { ContainerExec, ExecSpec } from './container-exec.ts'
import type { ContainerFiles } from './container-files.ts'

/** Containers of one engine. Nothing is connected before the first call. */
export interface ShellContainers {
  /**
   * A running container, from the warm pool when one of the same kind waits there; `signal` gives it up.
   * @throws BaxError `docker_unavailable` (hint: what to start), `image_not_found`, `no_capacity`.
   */
  create(spec: ContainerSpec, signal?: AbortSignal): Promise<ShellContainer>
  /** Where Docker was found and what it is. @throws BaxError `docker_unavailable`. */
  status(): Promise<DockerStatus>
  readonly images: ShellImages
  /** Removes every container of this engine, the warm ones too; safe to call twice. */
  close(): Promise<void>
}

export interface DockerStatus {
  /** `unix:///var/run/docker.sock` */
  readonly endpoint: string
  readonly kind: 'docker' | 'podman'
  readonly version: string
  readonly apiVersion: string
  /** Running containers of this engine: in sessions, and warm. */
  readonly containers: number
  readonly warm: number
}

/** Everything a request can decide about a container; there is no way to a field of Docker's own. */
export interface ContainerSpec {
  /** Written into the labels (`bax.session`) when the container is made for it; never shown to users as a Docker name. */
  readonly sessionId: string
  /** A name that `images.find` knows. */
  readonly image: string
  readonly network: 'none' | 'bridge'
  /** Absolute, normalised, beneath no other of them; each becomes a tmpfs of `outputMb`. `/workspace` and `/tmp` always exist. */
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
  /** Files and directories under /workspace, each output mount, and /tmp. */
  readonly workspaceFiles: number
  readonly outputFiles: number
  readonly tmpFiles: number
}

export interface ShellImages {
  /** Local images that sessions may use: bax's own and those on the allow-list. */
  list(): Promise<ShellImage[]>
  /** @throws BaxError `image_not_found` (hint: how it is made or pulled); never pulls. */
  find(name: string): Promise<ShellImage>
  /** Pulls from a registry. @throws BaxError `image_not_found` when the registry does not have it or cannot be reached. */
  pull(name: string, options: { report?: (line: string) => void; signal?: AbortSignal }): Promise<ShellImage>
  /**
   * Makes one of bax's own images on this machine (`default`: Debian with Python, Node, git; `busybox`: 2 MB).
   * @throws BaxError `image_failed` with the tool that is missing or the last lines it said.
   */
  build(which: OwnImage, options: { report?: (line: string) => void; signal?: AbortSignal }): Promise<ShellImage>
}

export type OwnImage = 'default' | 'busybox'
/** Names of bax's own images. */
export const ownImages: Record<OwnImage, string> = { default: 'bax-shell:default', busybox: 'bax-shell:busybox' }

export interface ShellImage {
  /** `bax-shell:default` */
  readonly name: string
  /** Docker's image id; not for users. */
  readonly id: string
  readonly sizeBytes: number
  readonly createdAt: string
}

/** One running container. Every method throws BaxError `session_lost` once it is gone. */
export interface ShellContainer {
  /** Which shells and interpreters the image has, looked up once: names of `programs` -> absolute path. */
  which(programs: readonly string[]): Promise<ReadonlyMap<string, string>>
  /**
   * Starts a program; resolves when it runs (or could not be executed: then `exit` tells 126 or 127 with the reason on stderr).
   * @throws ContainerFault `EAGAIN` when the container's process limit is reached by programs that have no more than
   * their share of it (others are killed for the new one), `ENOENT`/`ENOTDIR`/`EACCES` for `cwd`.
   */
  exec(spec: ExecSpec): Promise<ContainerExec>
  readonly files: ContainerFiles
  /**
   * Kills every process but the agent and returns their number; files stay, programs that run end with SIGKILL.
   * @throws ContainerFault `ETIMEDOUT` when some are still alive after 5 s.
   */
  killAll(): Promise<number>
  /** Resolves (never rejects) when the container is gone for whatever reason, `remove` included. */
  readonly died: Promise<ContainerEnd>
  /** Null while it runs. */
  readonly end: ContainerEnd | null
  /** Kills and removes the container with everything in it; resolves when Docker no longer knows it. Safe to call twice. */
  remove(): Promise<void>
}

export interface ContainerEnd {
  /** `removed` by us; `exited`: its first process ended; `paused`: frozen from outside; `unreachable`: Docker itself is gone. */
  readonly reason: 'removed' | 'exited' | 'paused' | 'unreachable'
  readonly message: string
}

/** The system inside the container refused; `code` is its name for it. Those above decide what users are told. */
export class ContainerFault extends Error {
  /** `ENOENT`, `EACCES`, `ENOSPC`, … */
  readonly code: string
  /** What was asked for, e.g. `open`. */
  readonly during: string

  constructor(code: string, during: string) {
    super(`${during}: ${code}`)
    this.name = 'ContainerFault'
    this.code = code
    this.during = during
  }
}

/** The error of every call on a container that is gone. */
export const sessionLost = (end: ContainerEnd): BaxError =>
  new BaxError('session_lost', end.message, {
    hint: 'the session is over; create a new one',
    details: { reason: end.reason },
  })

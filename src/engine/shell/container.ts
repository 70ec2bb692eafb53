/** Containers of shell sessions: their configuration, how they end and how they fail. */
import { BaxError } from '../../core/errors/errors.ts'

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

export interface ContainerEnd {
  /** `removed` by us; `exited`: its first process ended; `paused`: paused externally; `unreachable`: Docker is gone. */
  readonly reason: 'removed' | 'exited' | 'paused' | 'unreachable'
  readonly message: string
}

/** Error of the system inside the container; `code` is its name. Upper layers decide what users see. */
export class ContainerError extends Error {
  /** `ENOENT`, `EACCES`, `ENOSPC`, … */
  readonly code: string

  /** @param during Failed operation, such as `open`. */
  constructor(code: string, during: string) {
    super(`${during}: ${code}`)
    this.name = 'ContainerError'
    this.code = code
  }
}

/** Returns the error of every call on a container that is gone. */
export const sessionLost = (end: ContainerEnd): BaxError =>
  new BaxError('session_lost', end.message, {
    hint: 'create a new session',
    details: { reason: end.reason },
  })

/** Builds the specification of the container of a session. */
import type { ShellSessionInput } from '../../../core/shapes/shell/session.ts'
import type { ContainerSpec } from '../container.ts'

/** Returns the container that a session asks for. */
export const specOf = (sessionId: string, input: ShellSessionInput, image: string): ContainerSpec => ({
  sessionId,
  image,
  network: input.network,
  outputMounts: input.output_mounts,
  limits: {
    memoryMb: input.limits.memory_mb,
    cpus: input.limits.cpus,
    pids: input.limits.pids,
    workspaceMb: input.limits.workspace_mb,
    outputMb: input.limits.output_mb,
    tmpMb: input.limits.tmp_mb,
    workspaceFiles: input.limits.workspace_files,
    outputFiles: input.limits.output_files,
    tmpFiles: input.limits.tmp_files,
  },
})

/**
 * Interface below shell sessions: a confined container, its programs and its files. It deals in exact bytes and facts;
 * the layers above (`exec`, `files`, `artifacts`) decide what users see. Implemented by `docker/` (containers, see
 * `createContainers`) and `agent/` (inside a container).
 */
import type { AgentFiles } from './agent/files.ts'
import type { DockerContainers } from './docker/containers.ts'
import type { DockerContainer } from './docker/docker-container.ts'

/** Containers of one engine. Connects at the first call. */
export type ShellContainers = Pick<DockerContainers, keyof DockerContainers>

/** Running container. Every method throws BaxError `session_lost` once it is gone. */
export type ShellContainer = Omit<DockerContainer, 'id' | 'answers'>

/** File operations of a container. */
export type ContainerFiles = Pick<AgentFiles, keyof AgentFiles>

/** Opens the scaler that the flags name. */
import type { ShellConfig } from '../../core/config/shell-settings.ts'
import type { ScalerTarget } from '../../core/scaling.ts'
import { CommandScaler } from './command.ts'
import { DockerScaler } from './docker.ts'
import { KubernetesScaler } from './kubernetes.ts'
import type { Scaler } from './scaler.ts'

export interface ScalerEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Address of Docker. */
  readonly docker?: ShellConfig
}

/** Returns the scaler; undefined for a fixed set of workers. */
export function openScaler(target: ScalerTarget, { env, cwd, docker }: ScalerEnvironment): Scaler | undefined {
  switch (target.kind) {
    case 'none':
      return undefined
    case 'docker':
      return new DockerScaler(target.service, docker)
    case 'kubernetes':
      return new KubernetesScaler({ ...target, env })
    case 'command':
      return new CommandScaler({ program: target.program, env, cwd })
  }
}

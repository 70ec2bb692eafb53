/** Sets the number of replicas of a Swarm service. */
import { setTimeout as pause } from 'node:timers/promises'
import type Dockerode from 'dockerode'
import type { ShellConfig } from '../../core/config/shell-settings.ts'
import { limits } from '../../core/limits/limits.ts'
import { connectDocker, withTimeout } from '../../engine/shell/docker/connection.ts'
import { type Scaler, ScalerError, StillRunningError } from './scaler.ts'

/** Interval of checks whether Swarm has carried out an update. */
const pollMs = 50

/** Time for Swarm to carry it out. */
const forgetMs = 6000

/** Attempts to update a service that others update at the same time. */
const attempts = 5

interface Task {
  readonly Slot?: number
  readonly CreatedAt: string
  readonly DesiredState: string
  readonly Status: { readonly State: string }
}

interface Replicated {
  readonly Version: { readonly Index: number }
  readonly Spec: { readonly Mode?: { readonly Replicated?: { readonly Replicas?: number } } }
}

export class DockerScaler implements Scaler {
  readonly removal = 'exited'
  readonly #service: string
  readonly #config: ShellConfig

  constructor(service: string, config: ShellConfig = {}) {
    this.#service = service
    this.#config = config
  }

  describe(): string {
    return `Swarm service ${this.#service}`
  }

  /** Returns the number of replicas without those whose worker exited by itself, which Swarm does not start again. */
  async current(): Promise<number> {
    return this.#ask(async (docker) => {
      const { replicas, exited } = await this.#state(docker)
      return replicas - exited
    })
  }

  async want(count: number): Promise<void> {
    await this.#ask(async (docker) => {
      const { replicas, exited, running } = await this.#state(docker)
      // Swarm would stop workers that nobody drained.
      if (running > count) {
        throw new StillRunningError(`${running} workers of ${this.#service} still run`, {
          hint: 'drained workers exit by themselves; see the restart policy in "bax help scaling-out"',
        })
      }
      if (exited > 0 && count > replicas - exited) await this.#forgetExited(docker, replicas - exited)
      await this.#update(docker, count)
    })
  }

  /** Removes the places of exited workers, which Swarm prefers to running ones but does not start again. */
  async #forgetExited(docker: Dockerode, count: number): Promise<void> {
    await this.#update(docker, count)
    // Until they are really gone, Swarm counts them as places that are taken.
    const until = performance.now() + forgetMs
    const isExited = ({ Status: { State } }: Task) => State === 'complete'
    while (performance.now() < until && (await this.#tasks(docker)).some(isExited)) await pause(pollMs)
  }

  async #state(docker: Dockerode): Promise<{ replicas: number; exited: number; running: number }> {
    const { Spec } = (await docker.getService(this.#service).inspect()) as Replicated
    const replicas = this.#replicasOf(Spec)
    const tasks = await this.#tasks(docker)
    /** Last task of each place. */
    const last = new Map<number, Task>()
    for (const task of tasks.filter(({ DesiredState }) => DesiredState !== 'remove')) {
      const other = last.get(task.Slot ?? 0)
      if (!other || other.CreatedAt < task.CreatedAt) last.set(task.Slot ?? 0, task)
    }
    // Swarm keeps failed tasks of places that no longer exist.
    const states = [...last.values()].flatMap(({ DesiredState, Status: { State } }) =>
      DesiredState === 'shutdown' && State !== 'complete' ? [] : [State],
    )
    const slots = states.length
    const complete = states.filter((state) => state === 'complete').length
    // Swarm has not yet removed places above the number of replicas, exited ones first.
    const exited = Math.max(0, complete - Math.max(0, slots - replicas))
    return { replicas, exited, running: states.filter((state) => state === 'running').length }
  }

  async #tasks(docker: Dockerode): Promise<Task[]> {
    return (await docker.listTasks({ filters: { service: [this.#service] } })) as Task[]
  }

  async #update(docker: Dockerode, count: number): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const service = docker.getService(this.#service)
      const { Version, Spec } = (await service.inspect()) as Replicated
      if (this.#replicasOf(Spec) === count) return
      try {
        const Mode = { Replicated: { Replicas: count } }
        await service.update({ ...Spec, Mode, version: Version.Index })
        return
      } catch (error) {
        if (attempt === attempts || !/out of sequence/.test((error as Error).message)) throw error
      }
    }
  }

  #replicasOf({ Mode }: Replicated['Spec']): number {
    if (Mode?.Replicated) return Mode.Replicated.Replicas ?? 1
    throw new ScalerError(`the Swarm service ${this.#service} is not replicated`, {
      hint: 'create it with --mode replicated',
    })
  }

  async #ask<T>(work: (docker: Dockerode) => Promise<T>): Promise<T> {
    try {
      const { docker } = await connectDocker(this.#config)
      return await withTimeout(work(docker), limits.scaling.requestMs)
    } catch (cause) {
      if (cause instanceof ScalerError) throw cause
      throw this.#failure(cause as Error & { statusCode?: number; hint?: string })
    }
  }

  #failure(cause: Error & { statusCode?: number; hint?: string }): ScalerError {
    const { statusCode, message, hint } = cause
    if (statusCode === 404)
      return new ScalerError(`there is no Swarm service ${this.#service}`, {
        cause,
        hint: 'list them with "docker service ls"',
      })
    if (statusCode === 503)
      return new ScalerError('this Docker is not a manager of a Swarm', { cause, hint: 'run the gateway on a manager' })
    return new ScalerError(`Docker: ${message}`, { cause, hint })
  }
}

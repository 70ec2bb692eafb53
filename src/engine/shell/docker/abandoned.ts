/**
 * Removes containers of killed engines that never ran, or are left after they ended. Running ones end by themselves with
 * the connection of their engine. Neither a process ID nor a machine says whose such a container is: engines in
 * containers and on other machines can share one Docker. Therefore time decides: an engine starts a container as soon as
 * it has created it, and removes it when it has ended.
 */
import type Dockerode from 'dockerode'
import type { Log } from '../../../core/config/config.ts'
import { limits } from '../../../core/limits/limits.ts'
import { labels } from './engine-identity.ts'
import { ignoreStatuses } from './errors.ts'

interface AbandonedOptions {
  readonly docker: Dockerode
  readonly log: Log
  /** Label of the containers to watch; by default, that of all engines. */
  readonly label?: string
  readonly abandonedMs?: number
}

export class AbandonedContainers {
  readonly #options: AbandonedOptions
  /** When they were first seen, on the monotonic clock: those of Docker and of this machine may differ. */
  #seen = new Map<string, number>()

  constructor(options: AbandonedOptions) {
    this.#options = options
  }

  /** Sweeps at intervals until the returned function is called. */
  watch(): () => void {
    const { log } = this.#options
    const sweep = () =>
      void this.sweep().catch((error: unknown) =>
        log('warn', 'could not remove abandoned containers', { error: String(error) }),
      )
    const timer = setInterval(sweep, limits.shell.sweepMs).unref()
    return () => clearInterval(timer)
  }

  /** Removes the containers that an earlier sweep has seen long enough ago; returns their IDs. */
  async sweep(): Promise<string[]> {
    const { docker, log, label = labels.owner, abandonedMs = limits.shell.abandonedMs } = this.#options
    const filters = JSON.stringify({ label: [label], status: ['created', 'exited'] })
    const found = await docker.listContainers({ all: true, filters })
    const now = performance.now()
    const known = this.#seen
    this.#seen = new Map(found.map(({ Id }) => [Id, known.get(Id) ?? now]))
    const abandoned = found.map(({ Id }) => Id).filter((id) => known.has(id) && now - known.get(id)! >= abandonedMs)
    // An engine that is only slow finds its container missing, and creates another one. 409: it is being removed.
    await Promise.all(
      abandoned.map((id) => ignoreStatuses([404, 409], docker.getContainer(id).remove({ force: true, v: true }))),
    )
    if (abandoned.length > 0) log('info', 'removed abandoned containers', { count: abandoned.length })
    return abandoned
  }
}

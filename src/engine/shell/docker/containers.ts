/** Manages the containers of one engine: connects on first use, keeps some warm, and removes all at the end. */
import type { EngineConfig } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { ContainerSpec } from '../container.ts'
import type { ShellContainer, ShellContainers } from '../interface.ts'
import { LocalImages } from '../images/local-images.ts'
import { AbandonedContainers } from './abandoned.ts'
import { connectDocker, type DockerConnection } from './connection.ts'
import { type DerivedImage, derivedImage, dropStale } from './derived-image.ts'
import { DockerContainer } from './docker-container.ts'
import { type EngineIdentity, engineIdentity, isAlive, labels, labelsOf } from './engine-identity.ts'
import { dockerError, statusOf, ignoreStatuses } from './errors.ts'
import { createOptions } from './host-config.ts'
import { dropNetworks, ensureNetwork, isolateNetwork } from './network.ts'
import { kindOf, WarmPool } from './warm-pool.ts'

const warm = { kinds: 3, idleMs: 5 * 60_000 }

type Config = Pick<EngineConfig, 'stateDir' | 'home' | 'log' | 'shell'>

/** Creates the container manager of an engine. */
export const createContainers = (config: Config): ShellContainers => new DockerContainers(config)

/** Connection to Docker, and our identity for its labels. */
type DockerAccess = DockerConnection & EngineIdentity

/** Containers of one engine. Connects at the first call. */
export class DockerContainers {
  readonly images: LocalImages
  readonly #config: Config
  readonly #pool: WarmPool
  readonly #live = new Set<DockerContainer>()
  /** Pending work that `close` waits for. */
  readonly #pending = new Set<Promise<unknown>>()
  readonly #images = new Map<string, Promise<DerivedImage>>()
  #access: Promise<DockerAccess> | undefined
  #closing: Promise<void> | undefined
  #bridgeId: Promise<string> | undefined
  #stopSweeping = () => {}

  constructor(config: Config) {
    this.#config = config
    this.images = new LocalImages(() => this.#connect(), config.shell?.images)
    this.#pool = new WarmPool({
      ...warm,
      // An embedded engine exists for one command only.
      size: config.shell?.warm ?? (config.home === 'embedded' ? 0 : 1),
      failed: (error) => config.log('warn', 'could not create a warm container', { error: String(error) }),
    })
  }

  /**
   * Returns a running container, from the warm pool if one of the same kind is ready; `signal` cancels.
   * @throws BaxError `docker_unavailable` (hint: what to start), `image_not_found`, `no_capacity`.
   */
  async create(spec: ContainerSpec, signal?: AbortSignal): Promise<ShellContainer> {
    signal?.throwIfAborted()
    const { id: baseId } = await this.images.find(spec.image)
    const key = kindOf(baseId, spec)
    const container = (await this.#pool.take(key)) ?? (await this.#createUnlessAborted(spec, baseId, signal))
    if (!this.#closing) this.#pool.keep(key, () => this.#create({ ...spec, sessionId: '' }, baseId))
    return container
  }

  /** Returns the number of warm containers. @throws BaxError `docker_unavailable`. */
  async status(): Promise<{ warm: number }> {
    await this.#connect()
    return { warm: this.#pool.count }
  }

  /** Removes every container of this engine, including warm ones; safe to call twice. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#stopSweeping()
    await Promise.allSettled(this.#pending)
    await this.#pool.close()
    await Promise.all([...this.#live].map((container) => container.remove()))
    // A failed connection was reported by the call that needed it, and has no networks.
    const access = await this.#access?.catch(() => undefined)
    if (access && this.#bridgeId) await dropNetworks(access.docker, access.engine)
  }

  /** Stops waiting when `signal` aborts; the container is then removed as soon as it is created. */
  async #createUnlessAborted(
    spec: ContainerSpec,
    baseId: string,
    signal: AbortSignal | undefined,
  ): Promise<DockerContainer> {
    const creating = this.#create(spec, baseId)
    try {
      return await withDeadline(creating, { signal })
    } catch (error) {
      if (signal?.aborted) this.#track(creating.then((late) => late.remove()))
      throw error
    }
  }

  #create(spec: ContainerSpec, baseId: string): Promise<DockerContainer> {
    if (this.#closing) throw new BaxError('shutting_down', 'the engine is shutting down')
    const creating = this.#createWithRetry(spec, baseId)
    this.#track(creating)
    return creating
  }

  async #createWithRetry(spec: ContainerSpec, baseId: string): Promise<DockerContainer> {
    try {
      try {
        return await this.#createOnce(spec, baseId)
      } catch (error) {
        if (statusOf(error) !== 404) throw error
      }
      // The image with the agent, or the bridge, was removed since we created it.
      this.#images.delete(baseId)
      this.#bridgeId = undefined
      return await this.#createOnce(spec, baseId)
    } catch (error) {
      throw dockerError(error, 'creating a container')
    }
  }

  async #createOnce(spec: ContainerSpec, baseId: string): Promise<DockerContainer> {
    const access = await this.#connect()
    const { docker, kind } = access
    const own = { ...labelsOf(access), ...(spec.sessionId && { [labels.session]: spec.sessionId }) }
    const image = await this.#imageWithAgent(access, baseId)
    const network = spec.network === 'none' ? 'none' : await this.#bridge(access)
    const plan = { spec, image: image.id, volumes: image.volumes, network, labels: own, podman: kind === 'podman' }
    const { id } = await docker.createContainer(createOptions(plan))
    try {
      const container = await DockerContainer.start(docker, id, image, (text) =>
        this.#config.log('warn', 'agent', { text }),
      )
      this.#live.add(container)
      void container.died.then(() => {
        this.#live.delete(container)
        // A container that exited is removed automatically, a paused one is not.
        this.#track(container.remove())
      })
      if (spec.network === 'bridge') await isolateNetwork(docker, { container: id, image: image.id, labels: own })
      return container
    } catch (error) {
      await ignoreStatuses([404, 409], docker.getContainer(id).remove({ force: true, v: true }))
      throw error
    }
  }

  /** Returns the bridge network of this engine, created on first use, and again if it was removed. */
  #bridge(access: DockerAccess): Promise<string> {
    const bridge = (this.#bridgeId ??= ensureNetwork(access.docker, access))
    bridge.catch(() => (this.#bridgeId = undefined))
    return bridge
  }

  /** Returns the image with the agent, created once, and again if it was removed. */
  #imageWithAgent(access: DockerAccess, baseId: string): Promise<DerivedImage> {
    const known = this.#images.get(baseId)
    if (known) return known
    const creating = derivedImage(access, baseId, labelsOf(access))
    this.#images.set(baseId, creating)
    creating.catch(() => this.#images.delete(baseId))
    return creating
  }

  #connect(): Promise<DockerAccess> {
    if (this.#access) return this.#access
    const access = this.#connectNow()
    this.#access = access
    // Retry at the next call: Docker may be running then.
    access.catch(() => (this.#access = undefined))
    return access
  }

  async #connectNow(): Promise<DockerAccess> {
    const connection = await connectDocker(this.#config.shell)
    // Write the identity only once Docker was found.
    const identity = await engineIdentity(this.#config.stateDir)
    const access = { ...connection, ...identity }
    await sweep(access)
    const { log } = this.#config
    if (!this.#closing) this.#stopSweeping = new AbandonedContainers({ docker: access.docker, log }).watch()
    return access
  }

  #track(work: Promise<unknown>): void {
    const tracked = Promise.allSettled([work]).finally(() => this.#pending.delete(tracked))
    this.#pending.add(tracked)
  }
}

/** Removes containers of earlier engines of the same state folder, and images without their base. */
async function sweep({ docker, engine, owner }: DockerAccess): Promise<void> {
  const filters = JSON.stringify({ label: [`${labels.engine}=${engine}`] })
  const found = await docker.listContainers({ all: true, filters })
  const left = found.filter(({ Labels }) => {
    const containerOwner = Labels[labels.owner]
    return containerOwner !== undefined && containerOwner !== owner && !isAlive(containerOwner)
  })
  await Promise.all(
    left.map(({ Id }) => ignoreStatuses([404, 409], docker.getContainer(Id).remove({ force: true, v: true }))),
  )
  await dropStale(docker)
}

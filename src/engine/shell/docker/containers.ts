/** Containers of one engine: connects to Docker on first use, keeps some warm, and takes all with it when it ends. */
import type { EngineConfig } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { ContainerSpec, DockerStatus, ShellContainer, ShellContainers, ShellImages } from '../container.ts'
import { LocalImages } from '../images/local-images.ts'
import { connectDocker, type DockerConnection } from './connection.ts'
import { type DerivedImage, derivedImage } from './derived-image.ts'
import { DockerContainer, type ImageMemory } from './docker-container.ts'
import { type EngineIdentity, engineIdentity, labels } from './engine-identity.ts'
import { dockerFault, statusOf, unless } from './faults.ts'
import { createOptions } from './host-config.ts'
import { dropNetworks, ensureNetwork, fence } from './network.ts'
import { sweep } from './sweep.ts'
import { kindOf, WarmPool } from './warm-pool.ts'

const warm = { kinds: 3, idleMs: 5 * 60_000 }

/** Docker's containers for the shell sessions of an engine. Nothing is connected before the first call. */
export const createContainers = (config: Pick<EngineConfig, 'stateDir' | 'home' | 'log' | 'shell'>): ShellContainers =>
  new DockerContainers(config)

/** Docker and who we are to it. */
interface Reach {
  readonly connection: DockerConnection
  readonly identity: EngineIdentity
}

interface PreparedImage extends DerivedImage {
  readonly memory: ImageMemory
}

class DockerContainers implements ShellContainers {
  readonly images: ShellImages
  readonly #config: Parameters<typeof createContainers>[0]
  readonly #pool: WarmPool
  readonly #live = new Set<DockerContainer>()
  /** Containers that are being made; `close` waits for them. */
  readonly #making = new Set<Promise<unknown>>()
  readonly #prepared = new Map<string, Promise<PreparedImage>>()
  #reach: Promise<Reach> | undefined
  #closing: Promise<void> | undefined
  #bridging: Promise<string> | undefined

  constructor(config: Parameters<typeof createContainers>[0]) {
    this.#config = config
    this.images = new LocalImages({
      connect: async () => (await this.#connect()).connection,
      allowed: config.shell?.images,
    })
    this.#pool = new WarmPool({
      ...warm,
      // An embedded engine lives as long as one command.
      size: config.shell?.warm ?? (config.home === 'embedded' ? 0 : 1),
      failed: (error) => config.log('warn', 'a container could not be kept warm', { error: String(error) }),
    })
  }

  async create(spec: ContainerSpec, signal?: AbortSignal): Promise<ShellContainer> {
    signal?.throwIfAborted()
    const { id: baseId } = await this.images.find(spec.image)
    const key = kindOf(baseId, spec)
    const waiting = await this.#pool.take(key)
    const container = waiting ?? (await this.#makeUnlessGivenUp(spec, baseId, signal))
    if (!this.#closing) this.#pool.keep(key, () => this.#make({ ...spec, sessionId: '' }, baseId))
    return container
  }

  async status(): Promise<DockerStatus> {
    const { connection } = await this.#connect()
    const { endpoint, kind, version, apiVersion } = connection
    return { endpoint, kind, version, apiVersion, containers: this.#live.size, warm: this.#pool.count }
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#making)
    await this.#pool.close()
    await Promise.all([...this.#live].map((container) => container.remove()))
    // A failed connection was reported by the call that needed it, and has no networks.
    const reach = await this.#reach?.catch(() => undefined)
    if (reach && this.#bridging) await dropNetworks(reach.connection, reach.identity.engine)
  }

  /** One who gives up does not wait; what comes for nobody is removed again. */
  async #makeUnlessGivenUp(
    spec: ContainerSpec,
    baseId: string,
    signal: AbortSignal | undefined,
  ): Promise<DockerContainer> {
    const making = this.#make(spec, baseId)
    try {
      return await withDeadline(making, { signal })
    } catch (error) {
      if (signal?.aborted) this.#track(making.then((late) => late.remove()))
      throw error
    }
  }

  #make(spec: ContainerSpec, baseId: string): Promise<DockerContainer> {
    if (this.#closing) throw new BaxError('shutting_down', 'the engine is ending')
    const making = this.#makeNow(spec, baseId)
    this.#track(making)
    return making
  }

  async #makeNow(spec: ContainerSpec, baseId: string): Promise<DockerContainer> {
    try {
      try {
        return await this.#makeOnce(spec, baseId)
      } catch (error) {
        if (statusOf(error) !== 404) throw error
      }
      // Somebody has removed the image with the agent, or the bridge, since we made it.
      this.#prepared.delete(baseId)
      this.#bridging = undefined
      return await this.#makeOnce(spec, baseId)
    } catch (error) {
      throw dockerFault(error, 'making a container')
    }
  }

  async #makeOnce(spec: ContainerSpec, baseId: string): Promise<DockerContainer> {
    const { connection, identity } = await this.#connect()
    const { docker, kind } = connection
    const ours = this.#labels(identity, spec)
    const image = await this.#prepare({ connection, identity }, baseId)
    const network = spec.network === 'none' ? 'none' : await this.#bridge({ connection, identity })
    const plan = { spec, image: image.id, volumes: image.volumes, network, labels: ours, podman: kind === 'podman' }
    const { id } = await docker.createContainer(createOptions(plan))
    return this.#start(connection, id, image, spec, ours)
  }

  async #start(
    { docker, ...rest }: DockerConnection,
    id: string,
    image: PreparedImage,
    spec: ContainerSpec,
    ours: Record<string, string>,
  ): Promise<DockerContainer> {
    try {
      const container = await DockerContainer.start(docker, id, image.memory, (text) =>
        this.#config.log('warn', 'agent', { text }),
      )
      this.#live.add(container)
      void container.died.then(() => {
        this.#live.delete(container)
        // One that ended by itself is gone already; a paused one is not.
        this.#track(container.remove())
      })
      if (spec.network === 'bridge') await fence({ docker, ...rest }, { container: id, image: image.id, labels: ours })
      return container
    } catch (error) {
      await unless([404, 409], docker.getContainer(id).remove({ force: true, v: true }))
      throw error
    }
  }

  /** The bridge of this engine, made with the first session that wants one, and again when somebody has removed it. */
  #bridge({ connection, identity }: Reach): Promise<string> {
    const bridge = (this.#bridging ??= ensureNetwork(connection, identity))
    bridge.catch(() => (this.#bridging = undefined))
    return bridge
  }

  #labels({ engine, owner }: EngineIdentity, { sessionId }: ContainerSpec): Record<string, string> {
    return { [labels.engine]: engine, [labels.owner]: owner, ...(sessionId && { [labels.session]: sessionId }) }
  }

  /** The image with the agent; made once, and again when somebody has removed it. */
  #prepare({ connection, identity }: Reach, baseId: string): Promise<PreparedImage> {
    const known = this.#prepared.get(baseId)
    if (known) return known
    const { engine, owner } = identity
    const ours = { [labels.engine]: engine, [labels.owner]: owner }
    const preparing = derivedImage(connection, baseId, ours).then((image) => ({
      ...image,
      memory: { env: image.env, programs: new Map<string, string | null>() },
    }))
    this.#prepared.set(baseId, preparing)
    preparing.catch(() => this.#prepared.delete(baseId))
    return preparing
  }

  #connect(): Promise<Reach> {
    if (this.#reach) return this.#reach
    const reach = this.#connectNow()
    this.#reach = reach
    // Somebody may start Docker now: the next call looks again.
    reach.catch(() => (this.#reach = undefined))
    return reach
  }

  async #connectNow(): Promise<Reach> {
    const connection = await connectDocker(this.#config.shell)
    // Without a Docker nothing is written either.
    const identity = await engineIdentity(this.#config.stateDir)
    await sweep(connection, identity)
    return { connection, identity }
  }

  #track(work: Promise<unknown>): void {
    const tracked = work.then(
      () => {},
      () => {},
    )
    this.#making.add(tracked)
    void tracked.finally(() => this.#making.delete(tracked))
  }
}

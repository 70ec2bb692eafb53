/** Running container with the agent in it. */
import type Dockerode from 'dockerode'
import { AgentChannel } from '../agent/channel.ts'
import { Deferred } from '../agent/deferred.ts'
import { startExec } from '../agent/exec.ts'
import { AgentFiles } from '../agent/files.ts'
import { type ContainerEnd, ContainerError } from '../container.ts'
import type { ContainerExec, ExecSpec } from '../container-exec.ts'
import { type Attachment, attach } from './attach.ts'
import { withTimeout } from './connection.ts'
import type { DerivedImage } from './derived-image.ts'
import { statusOf, ignoreStatuses } from './errors.ts'
import { watch } from './watchdog.ts'

/** Timeout for removing a container, in milliseconds. */
const removeMs = 20_000
/** Timeout for the first response of an agent, in milliseconds. */
const helloMs = 20_000

const defaultEnv = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LANG: 'C.UTF-8',
}
/** The only folder that always exists and is writable. */
const homeEnv = { HOME: '/workspace' }

export class DockerContainer {
  readonly files: AgentFiles
  /** Docker's ID; never shown to users. */
  readonly id: string
  readonly #docker: Dockerode
  readonly #channel: AgentChannel
  readonly #attachment: Attachment
  readonly #image: DerivedImage
  readonly #died = new Deferred<ContainerEnd>()
  /** Resolves (never rejects) when the container is gone for any reason, including `remove`. */
  readonly died = this.#died.promise
  readonly #stopWatching: () => void
  #removing: Promise<void> | undefined

  private constructor(
    docker: Dockerode,
    id: string,
    channel: AgentChannel,
    attachment: Attachment,
    image: DerivedImage,
  ) {
    this.#docker = docker
    this.id = id
    this.#channel = channel
    this.#attachment = attachment
    this.#image = image
    this.files = new AgentFiles(channel, image)
    this.#stopWatching = watch(channel, () => this.#inspect())
    void attachment.closed.then(() => this.#lose({ reason: 'exited', message: 'the container of the session exited' }))
  }

  /** Attaches to a created container, starts it and waits for its agent. */
  static async start(
    docker: Dockerode,
    id: string,
    image: DerivedImage,
    note: (text: string) => void,
  ): Promise<DockerContainer> {
    const pending: Uint8Array[] = []
    let attachment: Attachment | undefined
    const channel = new AgentChannel((bytes) => void (attachment ? attachment.write(bytes) : pending.push(bytes)))
    attachment = await attach(docker, id, { stdout: (bytes) => channel.receive(bytes), stderr: note })
    for (const bytes of pending) attachment.write(bytes)
    const container = new DockerContainer(docker, id, channel, attachment, image)
    try {
      await docker.getContainer(id).start()
      await withTimeout(channel.ready, helloMs)
      return container
    } catch (error) {
      attachment.close()
      throw error
    }
  }

  /** Null while it runs. */
  get end(): ContainerEnd | null {
    return this.#channel.end
  }

  /**
   * Starts a program; resolves when it runs, or could not be executed: then `exit` has code 126 or 127, with the reason
   * on stderr.
   * @throws ContainerError `EAGAIN` when the process limit is reached by programs that use no more than their share of
   * it (others are killed to make room), `ENOENT`/`ENOTDIR`/`EACCES` for `cwd`.
   */
  exec(spec: ExecSpec): Promise<ContainerExec> {
    return startExec(this.#channel, { ...spec, env: { ...defaultEnv, ...this.#image.env, ...homeEnv, ...spec.env } })
  }

  /**
   * Kills every process except the agent and returns their number; files stay, running programs end with SIGKILL.
   * @throws ContainerError `ETIMEDOUT` if some are still alive after 5 s.
   */
  killAll(): Promise<number> {
    return this.#channel.killAll()
  }

  /** Finds programs in the image, cached: names to absolute paths, or null. */
  async which(programs: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    await Promise.all(programs.map((program) => this.#find(program)))
    return this.#image.programs
  }

  /** Returns whether the agent still responds. */
  async answers(): Promise<boolean> {
    try {
      await withTimeout(this.#channel.ping(), helloMs)
      return true
    } catch {
      return false
    }
  }

  /** Kills and removes the container with its contents; resolves when Docker has removed it. Safe to call twice. */
  remove(): Promise<void> {
    return (this.#removing ??= this.#remove())
  }

  async #remove(): Promise<void> {
    this.#lose({ reason: 'removed', message: 'the session was stopped' })
    const container = this.#docker.getContainer(this.id)
    try {
      // 409: it is already being removed.
      await ignoreStatuses([404, 409], withTimeout(container.remove({ force: true, v: true }), removeMs))
      await ignoreStatuses([404], withTimeout(container.wait({ condition: 'removed' }), removeMs))
    } catch (error) {
      // If Docker is unreachable, the next engine removes the container.
      if (statusOf(error) !== undefined) throw error
    }
  }

  #lose(end: ContainerEnd): void {
    if (this.#channel.end) return
    this.#channel.lose(end)
    this.#died.resolve(end)
    this.#stopWatching()
    this.#attachment.close()
  }

  /** Checks the state of the container when the agent does not respond. */
  async #inspect(): Promise<void> {
    try {
      const found = await ignoreStatuses([404], withTimeout(this.#docker.getContainer(this.id).inspect(), 2000))
      if (!found) this.#lose({ reason: 'exited', message: 'the container of the session was removed' })
      else if (found.State.Paused) this.#lose({ reason: 'paused', message: 'the container of the session was paused' })
      else if (!found.State.Running) this.#lose({ reason: 'exited', message: 'the container of the session exited' })
    } catch (error) {
      if (statusOf(error) === undefined) this.#lose({ reason: 'unreachable', message: 'Docker no longer responds' })
      else throw error
    }
  }

  async #find(program: string): Promise<void> {
    if (this.#image.programs.has(program)) return
    const path = this.#image.env['PATH'] ?? defaultEnv.PATH
    const found = await Promise.all(path.split(':').map((folder) => this.#executable(`${folder}/${program}`)))
    this.#image.programs.set(program, found.find((candidate) => candidate !== null) ?? null)
  }

  async #executable(path: string): Promise<string | null> {
    try {
      const { type, mode } = await this.files.info(path, { follow: true })
      return type === 'file' && (mode & 0o111) !== 0 ? path : null
    } catch (error) {
      if (error instanceof ContainerError) return null
      throw error
    }
  }
}

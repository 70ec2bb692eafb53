/** What shows a failure afterwards: pictures, the page, its logs and a trace, as files in the folder of `--artifacts`. */
import { join, relative, resolve } from 'node:path'
import { call, type Addressed } from '../../client/client.ts'
import { keepFile } from './kept-file.ts'
import { failureOf, type Reach } from './call.ts'
import type { Picture, ScriptStart, StepStart } from './report.ts'
import type { Mask } from './script/secrets.ts'
import { takePicture } from './step-run.ts'
import { maskTrace } from './trace-file.ts'

export interface EvidenceOptions {
  /** Folder for files; without one only pictures are taken, for the reports. */
  readonly folder?: string
  /** Whether a report wants the picture of a failure. */
  readonly pictures: boolean
  readonly cwd: string
  readonly mask: Mask
  readonly operations: readonly Addressed[]
  readonly signal: AbortSignal
}

/** Evidence of all scripts of a run. */
export class EvidenceRoom {
  readonly #options: EvidenceOptions
  readonly #taken = new Map<string, string>()

  constructor(options: EvidenceOptions) {
    this.#options = options
  }

  /** The collector for one attempt at a script. */
  of({ file, attempt }: ScriptStart, reach: Reach): Collected {
    const name = this.#nameOf(file) + (attempt > 1 ? `-retry${attempt - 1}` : '')
    const { folder } = this.#options
    return new Collected(this.#options, reach, folder === undefined ? undefined : join(folder, name))
  }

  /** `shop/checkout.yaml` is `shop-checkout`; another file of that name gets a number. */
  #nameOf(file: string): string {
    const known = this.#taken.get(file)
    if (known !== undefined) return known
    const plain = slug(this.#options.mask.name(file.replace(/\.(ya?ml|json)$/i, '')))
    const names = new Set(this.#taken.values())
    let name = plain
    for (let number = 2; names.has(name); number += 1) name = `${plain}-${number}`
    this.#taken.set(file, name)
    return name
  }
}

/** A text as a file name. */
const slug = (text: string): string =>
  text.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-+|-+$/g, '').slice(0, 80) || 'script' // prettier-ignore

interface LogEvent {
  readonly ts: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Evidence of one attempt. Nothing in here fails the script: what could not be had is a note. */
export class Collected {
  /** Files that were written, as paths from the working folder. */
  readonly files: string[] = []
  readonly #options: EvidenceOptions
  readonly #reach: Reach
  readonly #folder: string | undefined
  readonly #notes: string[] = []
  #traces = false

  constructor(options: EvidenceOptions, reach: Reach, folder: string | undefined) {
    this.#options = options
    this.#reach = reach
    this.#folder = folder
  }

  /** Starts what has to watch from the beginning. */
  async begin(): Promise<void> {
    if (this.#folder === undefined) return
    this.#traces =
      (await this.#try('no trace', () => this.#call('traceSession', { action: 'start' }).then(() => true))) ?? false
  }

  /** Keeps how things are at the first failure, and returns pictures of it. */
  async failed(step: StepStart, own: readonly Picture[]): Promise<Picture[]> {
    if (this.#folder === undefined && !this.#options.pictures) return []
    const png = await this.#try('no picture of the failure', () => takePicture(this.#reach, this.#options.signal))
    const taken = png ? [{ label: 'failure', png }] : []
    if (this.#folder === undefined) return taken
    for (const { label, png: bytes } of [...own, ...taken]) {
      await this.#write(`${slug(`${step.number} ${this.#options.mask.name(label)}`)}.png`, bytes)
    }
    if (this.#reach.sessionId() === undefined) return taken
    const html = await this.#try('no HTML of the page', () => this.#html())
    if (html !== undefined) await this.#write('page.html', html)
    return taken
  }

  /** Ends what was started; its notes say what is missing. */
  async end(failed: boolean): Promise<readonly string[]> {
    const folder = this.#folder
    if (folder === undefined || this.#reach.sessionId() === undefined) return this.#notes
    if (failed) await this.#try('no log', () => this.#logs())
    if (this.#traces) await this.#try('no trace', () => this.#trace(failed))
    return this.#notes
  }

  async #html(): Promise<string> {
    const session_id = this.#reach.sessionId()!
    const commands = [{ command: 'get_content', data: { kind: 'html' } }]
    const { signal } = this.#options
    const { results } = await this.#reach.client.runCommands({ session_id, commands, timeout_ms: 10_000 }, { signal })
    return String(results[0]?.data?.['content'] ?? results[0]?.error ?? '')
  }

  async #logs(): Promise<void> {
    const { events } = (await this.#call('getSessionLog', {})) as { events: LogEvent[] }
    await this.#write('console-log.txt', consoleLines(events))
    await this.#write('network-log.txt', networkLines(events))
  }

  async #trace(failed: boolean): Promise<void> {
    if (!failed) return void (await this.#call('traceSession', { action: 'discard' }))
    const { trace } = (await this.#call('traceSession', { action: 'stop' })) as { trace: string }
    await this.#write('trace.zip', maskTrace(Buffer.from(trace, 'base64'), this.#options.mask))
  }

  #call(name: string, input: Record<string, unknown>): Promise<unknown> {
    const { http } = this.#options.operations.find((operation) => operation.name === name)!
    const session_id = this.#reach.sessionId()
    return call(this.#reach.transport, http, { ...input, session_id }, { signal: this.#options.signal })
  }

  /** Texts lose their secrets on the way. */
  async #write(name: string, content: string | Uint8Array): Promise<void> {
    const { cwd, mask } = this.#options
    const path = resolve(cwd, this.#folder!, name)
    await keepFile(path, typeof content === 'string' ? mask.text(content) : content)
    this.files.push(relative(cwd, path))
  }

  async #try<T>(without: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      this.#notes.push(`${without}: ${failureOf(error).message}`)
      return undefined
    }
  }
}

const consoleLines = (events: readonly LogEvent[]): string =>
  lines(events, ({ type, data }) => {
    const { level, text, url, line, message } = data
    if (type === 'console')
      return `${String(level)} ${String(text)}${url === undefined ? '' : ` (${String(url)}:${String(line)})`}`
    return type === 'page.error' ? `error ${String(message)}` : undefined
  })

const networkLines = (events: readonly LogEvent[]): string =>
  lines(events, ({ type, data }) => {
    const { method, url, status, error, resource_type } = data
    const what = `${String(method)} ${String(url)} (${String(resource_type)})`
    if (type === 'network.response') return `${String(status)} ${what}`
    return type === 'network.failed' ? `failed ${what}: ${String(error)}` : undefined
  })

const lines = (events: readonly LogEvent[], text: (event: LogEvent) => string | undefined): string =>
  events
    .flatMap((event) => {
      const line = text(event)
      return line === undefined ? [] : [`${event.ts} ${line}\n`]
    })
    .join('')

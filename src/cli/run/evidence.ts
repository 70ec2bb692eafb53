/** Collects evidence of failures in the folder of `--artifacts`: screenshots, HTML, logs and a trace. */
import { join, relative, resolve } from 'node:path'
import { failureOf, type EngineAccess } from './call.ts'
import { writeOutput } from '../output/write-output.ts'
import type { Screenshot, ScriptStart, StepStart } from './report.ts'
import type { Mask } from './script/secrets.ts'
import { takeScreenshot } from './step-run.ts'
import { maskTrace } from './trace-file.ts'

export interface EvidenceOptions {
  /** Folder for files; without one only screenshots are taken, for the reports. */
  readonly folder?: string
  /** Whether a report shows screenshots of failures. */
  readonly pictures: boolean
  readonly cwd: string
  readonly mask: Mask
  readonly signal: AbortSignal
}

/** Evidence of all scripts of a run. */
export class EvidenceStore {
  readonly #options: EvidenceOptions
  readonly #names = new Map<string, string>()

  constructor(options: EvidenceOptions) {
    this.#options = options
  }

  /** Returns the collector for one attempt at a script. */
  collectorFor({ file, attempt }: ScriptStart, engine: EngineAccess): EvidenceCollector {
    const name = this.#nameOf(file) + (attempt > 1 ? `-retry${attempt - 1}` : '')
    const { folder } = this.#options
    return new EvidenceCollector(this.#options, engine, folder === undefined ? undefined : join(folder, name))
  }

  /** Returns the folder name of a script: `shop/checkout.yaml` becomes `shop-checkout`, with a number when taken. */
  #nameOf(file: string): string {
    const known = this.#names.get(file)
    if (known !== undefined) return known
    const base = slug(this.#options.mask.name(file.replace(/\.(ya?ml|json)$/i, '')))
    const taken = new Set(this.#names.values())
    let name = base
    for (let number = 2; taken.has(name); number += 1) name = `${base}-${number}`
    this.#names.set(file, name)
    return name
  }
}

/** Converts text to a file name. */
const slug = (text: string): string =>
  text.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-+|-+$/g, '').slice(0, 80) || 'script' // prettier-ignore

interface LogEvent {
  readonly ts: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Collects the evidence of one attempt. Errors never fail the script; they become notes. */
export class EvidenceCollector {
  /** Written files, relative to the working folder. */
  readonly files: string[] = []
  readonly #options: EvidenceOptions
  readonly #engine: EngineAccess
  readonly #folder: string | undefined
  readonly #notes: string[] = []
  #traces = false

  constructor(options: EvidenceOptions, engine: EngineAccess, folder: string | undefined) {
    this.#options = options
    this.#engine = engine
    this.#folder = folder
  }

  /** Starts the trace. */
  async begin(): Promise<void> {
    if (this.#folder === undefined) return
    await this.#try('cannot start the trace', async () => {
      await this.#trace('start')
      this.#traces = true
    })
  }

  /** Saves the state of the page at the first failure, and returns screenshots of it. */
  async failed(step: StepStart, own: readonly Screenshot[]): Promise<Screenshot[]> {
    if (this.#folder === undefined && !this.#options.pictures) return []
    const png = await this.#try('cannot take a screenshot of the failure', () =>
      takeScreenshot(this.#engine, this.#options.signal),
    )
    const taken = png ? [{ label: 'failure', png }] : []
    if (this.#folder === undefined) return taken
    for (const { label, png: bytes } of [...own, ...taken]) {
      const name = `${slug(`${step.number} ${this.#options.mask.name(label)}`)}.png`
      await this.#try(`cannot save ${name}`, () => this.#write(name, bytes))
    }
    if (this.#engine.sessionId() === undefined) return taken
    await this.#try('cannot save the HTML of the page', async () => this.#write('page.html', await this.#html()))
    return taken
  }

  /** Saves the logs and ends the trace. Returns notes about missing evidence. */
  async end(failed: boolean): Promise<readonly string[]> {
    if (this.#folder === undefined || this.#engine.sessionId() === undefined) return this.#notes
    if (failed) await this.#try('cannot save the logs', () => this.#logs())
    if (this.#traces) await this.#try('cannot save the trace', () => this.#endTrace(failed))
    return this.#notes
  }

  /** The session of the script, which exists while there is evidence to save. */
  get #sessionId(): string {
    return this.#engine.sessionId()!
  }

  async #html(): Promise<string> {
    const session_id = this.#sessionId
    const commands = [{ command: 'get_content', data: { kind: 'html' } }]
    const { signal } = this.#options
    const { results } = await this.#engine.client.runCommands({ session_id, commands, timeout_ms: 10_000 }, { signal })
    return String(results[0]?.data?.['content'] ?? results[0]?.error ?? '')
  }

  async #logs(): Promise<void> {
    const session_id = this.#sessionId
    const { events } = await this.#engine.client.getSessionLog({ session_id }, { signal: this.#options.signal })
    await this.#write('console-log.txt', consoleLines(events))
    await this.#write('network-log.txt', networkLines(events))
  }

  async #endTrace(failed: boolean): Promise<void> {
    const stopped = await this.#trace(failed ? 'stop' : 'discard')
    if (failed) await this.#write('trace.zip', maskTrace(Buffer.from(stopped.trace!, 'base64'), this.#options.mask))
  }

  #trace(action: 'start' | 'stop' | 'discard') {
    return this.#engine.client.traceSession({ session_id: this.#sessionId, action }, { signal: this.#options.signal })
  }

  /** Writes a file; masks secrets in texts. */
  async #write(name: string, content: string | Uint8Array): Promise<void> {
    const { cwd, mask } = this.#options
    const path = resolve(cwd, this.#folder!, name)
    writeOutput(path, typeof content === 'string' ? mask.text(content) : content)
    this.files.push(relative(cwd, path))
  }

  async #try<T>(problem: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      this.#notes.push(`${problem}: ${failureOf(error).message}`)
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
    .map((event) => ({ ts: event.ts, line: text(event) }))
    .map(({ ts, line }) => (line === undefined ? '' : `${ts} ${line}\n`))
    .join('')

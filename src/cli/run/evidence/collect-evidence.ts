/** Collects evidence of failures in the folder of `--artifacts`: screenshots, HTML, logs and a trace. */
import { join, relative, resolve } from 'node:path'
import type { Event } from '../../../core/events/event-line.ts'
import { failureOf, type EngineAccess } from '../call.ts'
import { writeOutput } from '../../output/write-output.ts'
import type { Screenshot, ScriptStart, StepStart } from '../report.ts'
import { type Mask, maskTrace } from '../../../core/access/mask.ts'
import { takeScreenshot } from '../step-run.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { replayOfRun, type RunResults } from './replay-of-run.ts'

interface EvidenceOptions {
  /** Folder for files; without one only screenshots are taken, for the reports. */
  readonly folder?: string
  /** File, or folder ending in `/`, for the replay of every script. */
  readonly replay?: string | undefined
  /** Whether a report shows screenshots of failures. */
  readonly pictures: boolean
  readonly cwd: string
  readonly mask: Mask
  readonly signal: AbortSignal
  /** Receives the error of a file of `replay` that could not be written. */
  readonly onUnsaved?: (error: unknown) => void
}

/** Returns the collector for one attempt at a script. */
export type Evidence = (script: ScriptStart, engine: EngineAccess) => EvidenceCollector

/** Collects the evidence of all scripts of a run. */
export function collectEvidence(options: EvidenceOptions): Evidence {
  const names = new Map<string, string>()
  /** Returns the folder name of a script: `shop/checkout.yaml` becomes `shop-checkout`, with a number when taken. */
  const nameOf = (file: string): string => {
    const base = slug(options.mask.name(file.replace(/\.(ya?ml|json)$/i, '')))
    const taken = new Set(names.values())
    let name = base
    for (let number = 2; taken.has(name); number += 1) name = `${base}-${number}`
    names.set(file, name)
    return name
  }
  return (script, engine) => {
    const { attempt } = script
    const retry = attempt > 1 ? `-retry${attempt - 1}` : ''
    const name = (names.get(script.file) ?? nameOf(script.file)) + retry
    const { folder, replay } = options
    return new EvidenceCollector(script, {
      ...options,
      engine,
      folder: folder === undefined ? undefined : join(folder, name),
      replay: replay?.endsWith('/') ? join(replay, `${name}.html`) : replay?.replace(/(?=\.\w+$|$)/, retry),
    })
  }
}

/** Converts text to a file name. */
const slug = (text: string): string =>
  text
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 80) || 'script'

type LogEvent = Pick<Event, 'type' | 'data'> & { readonly ts: string }

/** Collects the evidence of one attempt. Errors never fail the script; they become notes. */
export class EvidenceCollector {
  /** Written files, relative to the working folder. */
  readonly files: string[] = []
  readonly #tools: EvidenceOptions & { readonly engine: EngineAccess }
  readonly #notes: string[] = []
  readonly #script: ScriptStart
  #traces = false
  /** Number of the last event of the session when the first step failed. */
  #failedAt: number | undefined

  constructor(script: ScriptStart, tools: EvidenceOptions & { readonly engine: EngineAccess }) {
    this.#script = script
    this.#tools = tools
  }

  /** Starts the trace. */
  async begin(): Promise<void> {
    if (this.#tools.folder === undefined) return
    await this.#try('cannot start the trace', async () => {
      await this.#trace('start')
      this.#traces = true
    })
  }

  /** Saves the state of the page at the first failure, and returns screenshots of it. */
  async failed(step: StepStart, own: readonly Screenshot[]): Promise<Screenshot[]> {
    // Before the commands that collect evidence.
    if (this.#keepsReplay) await this.#try('cannot find the failed step in the replay', () => this.#findFailure())
    if (this.#tools.folder === undefined && !this.#tools.pictures) return []
    const png = await this.#try('cannot take a screenshot of the failure', () =>
      takeScreenshot(this.#tools.engine, this.#tools.signal),
    )
    const taken = png ? [{ label: 'failure', png }] : []
    if (this.#tools.folder === undefined) return taken
    for (const { label, png: bytes } of [...own, ...taken]) {
      const name = `${slug(`${step.number} ${this.#tools.mask.name(label)}`)}.png`
      await this.#try(`cannot save ${name}`, () => this.#write(name, bytes))
    }
    if (this.#tools.engine.sessionId() === undefined) return taken
    await this.#try('cannot save the HTML of the page', async () => this.#write('page.html', await this.#html()))
    return taken
  }

  /** Saves the logs and the replay, and ends the trace. Returns notes about missing evidence. */
  async end(failed: boolean, results: RunResults): Promise<readonly string[]> {
    const { folder, replay } = this.#tools
    if (this.#tools.engine.sessionId() === undefined) {
      if (replay !== undefined) this.#notes.push('cannot save the replay: the script has no session')
      return this.#notes
    }
    if (folder !== undefined && failed) await this.#try('cannot save the logs', () => this.#logs())
    if (this.#traces) await this.#try('cannot save the trace', () => this.#endTrace(failed))
    const paths = [
      ...(replay === undefined ? [] : [replay]),
      ...(folder && failed ? [join(folder, 'replay.html')] : []),
    ]
    if (paths.length > 0) await this.#try('cannot save the replay', () => this.#replay(paths, results))
    return this.#notes
  }

  get #keepsReplay(): boolean {
    const { folder, replay, engine } = this.#tools
    return (folder !== undefined || replay !== undefined) && engine.sessionId() !== undefined
  }

  async #findFailure(): Promise<void> {
    const { ask, sessionId } = this.#tools.engine
    try {
      const { events } = await ask('getSessionLog', { session_id: sessionId()! }, { signal: this.#tools.signal })
      this.#failedAt = events.at(-1)?.seq
    } catch (error) {
      // The replay of an ended session opens with the command that failed then.
      if (!(error instanceof BaxError && error.code === 'session_closed')) throw error
    }
  }

  async #replay(paths: readonly string[], results: RunResults): Promise<void> {
    const { cwd, engine, mask, onUnsaved, replay, signal } = this.#tools
    const tools = { mask, signal, failedAt: this.#failedAt }
    const html = await replayOfRun(engine, { ...this.#script, ...results }, tools)
    for (const path of paths) {
      try {
        writeOutput(resolve(cwd, mask.name(path)), html)
      } catch (error) {
        if (path === replay) onUnsaved?.(error)
        throw error
      }
      this.files.push(relative(cwd, resolve(cwd, mask.name(path))))
    }
  }

  async #html(): Promise<string> {
    const session_id = this.#tools.engine.sessionId()!
    const commands = [{ command: 'get_content', data: { kind: 'html' } }]
    const { signal } = this.#tools
    const { results } = await this.#tools.engine.ask(
      'runCommands',
      { session_id, commands, timeout_ms: 10_000 },
      { signal },
    )
    return String(results[0]?.data?.['content'] ?? results[0]?.error ?? '')
  }

  async #logs(): Promise<void> {
    const session_id = this.#tools.engine.sessionId()!
    const { events } = await this.#tools.engine.ask('getSessionLog', { session_id }, { signal: this.#tools.signal })
    await this.#write('console-log.txt', linesOf(events, consoleLine))
    await this.#write('network-log.txt', linesOf(events, networkLine))
  }

  async #endTrace(failed: boolean): Promise<void> {
    const stopped = await this.#trace(failed ? 'stop' : 'discard')
    if (failed) await this.#write('trace.zip', await maskTrace(Buffer.from(stopped.trace!, 'base64'), this.#tools.mask))
  }

  #trace(action: 'start' | 'stop' | 'discard') {
    const { ask, sessionId } = this.#tools.engine
    return ask('traceSession', { session_id: sessionId()!, action }, { signal: this.#tools.signal })
  }

  /** Writes a file; masks secrets in texts. */
  async #write(name: string, content: string | Uint8Array): Promise<void> {
    const { cwd, mask } = this.#tools
    const path = resolve(cwd, this.#tools.folder!, name)
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

function consoleLine({ type, data }: LogEvent): string | undefined {
  const { level, text, url, line, message } = data
  if (type === 'console') return `${level} ${text}${url === undefined ? '' : ` (${url}:${line})`}`
  return type === 'page.error' ? `error ${message}` : undefined
}

function networkLine({ type, data }: LogEvent): string | undefined {
  const { method, url, status, error, resource_type } = data
  const what = `${method} ${url} (${resource_type})`
  if (type === 'network.response') return `${status} ${what}`
  return type === 'network.failed' ? `failed ${what}: ${error}` : undefined
}

const linesOf = (events: readonly LogEvent[], lineOf: typeof consoleLine): string =>
  events
    .map((event) => ({ ts: event.ts, line: lineOf(event) }))
    .map(({ ts, line }) => (line === undefined ? '' : `${ts} ${line}\n`))
    .join('')

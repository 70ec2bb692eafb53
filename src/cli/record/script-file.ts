/** The script of a recording, which is complete and valid after every step. */
import { textFlag, textFlags } from '../../lines/typed.ts'
import type { RecordedStep } from '../../core/shapes/recording.ts'
import { writeAtomic } from '../../core/state/files.ts'
import { scriptText } from '../../core/text/script/write-script.ts'
import type { Manifest } from '../../operations/manifest.ts'
import { cannotWrite } from '../output/write-output.ts'

interface Entry {
  /** Index among the steps of the engine; absent for steps that the terminal has added. */
  readonly index?: number
  readonly step: RecordedStep
}

export class ScriptFile {
  readonly #entries: Entry[] = []
  readonly #manifest: Manifest
  readonly #path: string | undefined
  #writing: Promise<void> = Promise.resolve()

  /** `path` is absent when the script is only printed. */
  constructor(path: string | undefined, manifest: Manifest) {
    this.#path = path
    this.#manifest = manifest
  }

  get count(): number {
    return this.#entries.length
  }

  /** The number of steps that the engine has recorded. */
  get recorded(): number {
    return this.#entries.filter(({ index }) => index !== undefined).length
  }

  /** Selector of the last step that has one. */
  get lastSelector(): string | undefined {
    return this.#entries.flatMap(({ step }) => textFlag(step.data, 'selector') ?? []).at(-1)
  }

  get steps(): RecordedStep[] {
    return this.#entries.map(({ step }) => step)
  }

  /** Names of the files that the script uploads. */
  get uploads(): string[] {
    return this.steps.flatMap(uploadsOf)
  }

  /** Adds a step of the terminal. */
  add(step: RecordedStep): void {
    this.#entries.push({ step })
  }

  /** Adds or replaces a step of the engine; returns the replaced one. */
  put(index: number, step: RecordedStep): RecordedStep | undefined {
    const at = this.#entries.findIndex((entry) => entry.index === index)
    const before = this.#entries[at]?.step
    if (at < 0) this.#entries.push({ index, step })
    else this.#entries[at] = { index, step }
    return before
  }

  /** Adds a remark to the step at a position. */
  remark(at: number, text: string): void {
    const { step, ...entry } = this.#entries[at]!
    const comment = step.comment === undefined ? text : `${step.comment}\n${text}`
    this.#entries[at] = { ...entry, step: { ...step, comment } }
  }

  /** Writes the file after earlier writes. @throws BaxError when it cannot be written. */
  async write(): Promise<void> {
    const path = this.#path
    if (path === undefined) return
    const write = async () =>
      writeAtomic(path, await this.text()).catch((cause) => Promise.reject(cannotWrite(path, cause)))
    this.#writing = this.#writing.then(write)
    return this.#writing
  }

  text(): Promise<string> {
    return scriptText(this.steps, this.#manifest)
  }
}

/** Names of the files that a step uploads. */
export const uploadsOf = ({ command, data }: RecordedStep): string[] =>
  command === 'upload_files' ? textFlags(data, 'files') : []

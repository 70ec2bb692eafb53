/** The steps of a recording, each reported when it is added or changed. */
import { limits } from '../../../core/limits/limits.ts'
import type { RecordedStep } from '../../../core/shapes/recording.ts'

const { steps: maxSteps } = limits.scriptRecording

export class StepList {
  readonly #steps: RecordedStep[] = []
  readonly #onStep: (index: number, step: RecordedStep) => void

  constructor(onStep: (index: number, step: RecordedStep) => void) {
    this.#onStep = onStep
  }

  get all(): readonly RecordedStep[] {
    return this.#steps
  }

  get isFull(): boolean {
    return this.#steps.length >= maxSteps
  }

  /** Adds or replaces a step. */
  put(index: number, step: RecordedStep): void {
    this.#steps[index] = step
    this.#onStep(index, step)
  }

  /** Inserts a step; the later ones are reported again with their new index. */
  insert(index: number, step: RecordedStep): void {
    this.#steps.splice(index, 0, step)
    for (let at = index; at < this.#steps.length; at++) this.#onStep(at, this.#steps[at]!)
  }

  /** Adds a remark to the last step; returns whether there is one. */
  remark(text: string): boolean {
    const last = this.#steps.at(-1)
    if (!last) return false
    const comment = last.comment === undefined ? text : `${last.comment}\n${text}`
    this.put(this.#steps.length - 1, { ...last, comment })
    return true
  }
}

/** Runs in the page: detects files that are dropped on it from outside. */
import { isElement, isInput } from '../../elements/node-kinds.page.ts'
import type { Fingerprint } from '../../../../core/shapes/recording.ts'
import { fingerprintOf } from '../../elements/fingerprint.page.ts'
import { afterEvent } from '../after-event.page.ts'
import { selectorOf } from '../selector-of.page.ts'

interface DroppedFiles {
  readonly at: number
  readonly selector: string
  readonly fingerprint: Fingerprint
  /** Names of the files and folders. */
  readonly files: readonly string[]
}

export class FileDropWatch {
  readonly #report: (dropped: DroppedFiles) => void
  /** Elements that were visible when the files entered the page: only those are there when a script drops them. */
  #visible: Set<Element> | undefined
  readonly #inputs = new WeakSet<Element>()

  constructor(report: (dropped: DroppedFiles) => void) {
    this.#report = report
    const onEnter = (event: DragEvent) => {
      if (!event.isTrusted || !isOfFiles(event)) return
      // The files come from outside. The drag before may have ended in a frame, whose events are not seen here.
      if (event.relatedTarget === null) this.#visible = undefined
      this.#visible ??= visibleNow()
    }
    addEventListener('dragenter', onEnter, { capture: true, passive: true })
  }

  /** Whether the files of an input were reported as a drop on another element. */
  has = (input: Element): boolean => this.#inputs.has(input)

  /** Reports files that the page takes; returns whether a drop is one of files. */
  drop(event: DragEvent): boolean {
    const visible = this.#visible
    this.#visible = undefined
    if (!isOfFiles(event)) return false
    const path = event.composedPath()
    const wasVisible = (at: EventTarget): at is Element => isElement(at) && visible?.has(at) !== false
    const target = [path[0]!, ...document.elementsFromPoint(event.clientX, event.clientY)].find(wasVisible)
    const input = path.find(isFileInput)
    // The recorder reports the files of inputs.
    if (!target || (input && wasVisible(input))) return true
    if (input) this.#inputs.add(input)
    const files = [...(event.dataTransfer?.files ?? [])].map(({ name }) => name)
    const facts = { at: Date.now(), selector: selectorOf(target), fingerprint: fingerprintOf(target), files }
    // The browser opens files that the page does not take.
    afterEvent(() => (input || event.defaultPrevented) && this.#report(facts))
    return true
  }
}

const isOfFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') === true

const isFileInput = (at: EventTarget): at is HTMLInputElement => isInput(at) && at.type === 'file'

const visibleNow = () =>
  new Set([...document.querySelectorAll('*')].filter((at) => at.checkVisibility({ visibilityProperty: true })))

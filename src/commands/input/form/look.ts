/** Reads the visible options of a widget, and the text of a combobox. */
import type { ElementHandle, JSHandle } from 'playwright'
import { findOption } from '../widget.ts'

/** The elements that were visible before a list was opened; null for one that is always open. */
export type Before = JSHandle<Set<Element>> | null

/** Returns the text of a combobox that is a field; null for others. */
export const fieldText = (widget: ElementHandle<Element>): Promise<string | null> =>
  widget.evaluate((node) => (node instanceof HTMLInputElement && !node.readOnly ? node.value : null))

export interface Look {
  readonly option: ElementHandle<Element> | null
  /** An option that is drawn. */
  readonly any: ElementHandle<Element> | null
  readonly name: string
  readonly isDisabled: boolean
  readonly names: readonly string[]
}

export type FoundOption = Look & {
  readonly option: ElementHandle<Element>
  /** Text of an option that adds what is typed. */
  readonly offer?: string
}

export async function look(widget: ElementHandle<Element>, value: string, before: Before): Promise<Look> {
  const found = await widget.evaluateHandle(findOption, { value, before })
  const [facts, option, any] = await Promise.all([
    found.evaluate(({ name, isDisabled, names }) => ({ name, isDisabled, names })),
    found.getProperty('option'),
    found.getProperty('any'),
  ])
  const elementOf = (handle: JSHandle) => handle.asElement() as ElementHandle<Element> | null
  return { ...facts, option: elementOf(option), any: elementOf(any) }
}

/** Sets a group of fields that share a label. */
import type { ElementHandle } from 'playwright'
import type { CallLimit, CommandContext } from '../../../core/operation/command.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { FormValue } from '../check-field.ts'
import { fillElement } from '../fill-field.ts'
import { selectInWidget } from '../select-widget.ts'
import { setByClick } from '../set-control.ts'
import { addTexts } from './add-texts.ts'
import { checkGroup, groupOf } from './group.ts'

interface Target {
  readonly selector: string
  readonly timeout_ms?: number | undefined
}

interface Group {
  readonly context: CommandContext
  readonly selector: string
  readonly value: FormValue
  readonly node: ElementHandle<Element>
  readonly parts: readonly ElementHandle<Element>[]
  readonly names: readonly string[]
  readonly limit: CallLimit
}

/** Sets the fields in an element. @throws BaxError unless they take the value. */
export const setGroup = (context: CommandContext, target: Target, value: FormValue): Promise<void> =>
  context.act(
    target,
    'present',
    async (element, limit) => {
      const node = (await element.elementHandle(limit)) as ElementHandle<Element>
      const { selector } = target
      const around = Array.isArray(value) ? await node.evaluateHandle(rangeAround, value.length) : null
      if (around && !around.asElement() && (await node.evaluate(isTextField)))
        return addAll(context, node, selector, value as string[])
      const found = await (around?.asElement() ?? node).evaluateHandle(groupOf)
      const facts = await found.evaluate(({ kind, names, isCode }) => ({ kind, names, isCode }))
      const { kind, fault } = checkGroup(facts, value)
      if (!kind) throw new BaxError('not_editable', `${selector} ${fault}`, { details: { selector } })
      const list = await (await found.getProperty('parts')).getProperties()
      const parts = [...list.values()].map((part) => part.asElement() as ElementHandle<Element>)
      const group: Group = { context, selector, value, node, parts, names: facts.names, limit }
      const radio = facts.kind === 'radio' ? await radioNamed(parts, facts.names, String(value)) : null
      if (radio) {
        await setByClick(context, { element: radio, handle: radio, checked: true, selector }, limit)
        return
      }
      if (kind === 'select') {
        await selectInWidget(
          context,
          { selector, values: [value].flat().map(String) },
          { kind: 'list', widget: node },
          limit,
        )
        return
      }
      await { checkbox: checkOnly, slider: slide, text: fillParts }[kind](group)
    },
    { mayBeHidden: true },
  )

/** Returns the radio button with a name, or the only one whose name contains a number; null for other elements. */
async function radioNamed(parts: readonly ElementHandle<Element>[], names: readonly string[], value: string) {
  const isNumbered = (name: string) => /^\d+$/.test(value) && name.split(/\D+/).includes(value)
  const numbered = names.filter(isNumbered)
  const at = names.includes(value) ? names.indexOf(value) : numbered.length === 1 ? names.indexOf(numbered[0]!) : -1
  const part = parts[at]
  return part && (await part.evaluate((node) => node.matches('input[type=radio]'))) ? part : null
}

/**
 * Runs in the page: returns the element around a text field that has as many fields, such as both ends of a range of
 * dates; not when one of them has another label.
 */
function rangeAround(node: Element, count: number): Element | null {
  const texts = (at: Element) => [...at.querySelectorAll<HTMLInputElement>('input:not([type=hidden])')]
  let at = node instanceof HTMLInputElement && count > 1 ? node.parentElement : null
  for (let level = 0; at && level < 3 && texts(at).length < count; level += 1) at = at.parentElement
  const own = (node as HTMLInputElement).labels?.[0]
  const isPart = ({ labels }: HTMLInputElement) => !labels?.[0] || labels[0] === own
  return at && texts(at).length === count && texts(at).every(isPart) ? at : null
}

const isTextField = (node: Element): boolean => node instanceof HTMLInputElement || node instanceof HTMLLabelElement

async function addAll(
  { send }: CommandContext,
  field: ElementHandle<Element>,
  selector: string,
  values: readonly (string | number)[],
) {
  const refused = await send(() => field.evaluate(addTexts, values.map(String)))
  if (refused === null) return
  const message = `${selector} does not add ${JSON.stringify(refused)} to a list: set one text`
  throw new BaxError('action_failed', message, { details: { selector, delivered: true } })
}

/** Checks the named checkboxes, and clears the others. */
async function checkOnly({ context, selector, value, parts, names, limit }: Group): Promise<void> {
  const list = new Set([value].flat().map(String))
  for (const [index, part] of parts.entries()) {
    const checked = typeof value === 'boolean' ? value : list.has(names[index]!)
    await setByClick(context, { element: part, handle: part, checked, selector }, limit)
  }
}

async function slide({ context, selector, value, parts, limit }: Group): Promise<void> {
  const values = [value].flat().map(Number)
  const order = [...parts.entries()]
  const now = await Promise.all(
    parts.map((part) => part.evaluate((node) => Number(node.ariaValueNow ?? (node as HTMLInputElement).value))),
  )
  // Handles do not pass each other.
  if (values[0]! > (now[1] ?? Infinity)) order.reverse()
  for (const [index, part] of order)
    await fillElement(context, { selector, handle: part }, String(values[index]), limit)
}

/** Fills each field with its value, or types a code into the fields of its characters. */
async function fillParts({ context, selector, value, parts, limit }: Group): Promise<void> {
  const texts = Array.isArray(value) ? value.map(String) : parts.length === 1 ? [String(value)] : null
  if (texts) {
    for (const [index, part] of parts.entries()) {
      const more = index < parts.length - 1
      await fillElement(context, { selector, handle: part, more }, texts[index]!, limit)
    }
    return
  }
  const { page, send, poll } = context
  await parts[0]!.focus()
  await send(() => page.keyboard.type(String(value)))
  const typed = () => Promise.all(parts.map((part) => part.inputValue(limit)))
  const seen = await poll(
    async () => ({ met: (await typed()).join('') === String(value) }),
    Math.min(limit.timeout, 2000),
  )
  if (seen.met) return
  const message = `${selector} does not have the characters after they were typed`
  throw new BaxError('action_failed', message, { details: { selector, delivered: true } })
}

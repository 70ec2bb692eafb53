/** Finds the fields of a form by label or selector, and checks that they take their values. */
import type { Locator } from 'playwright'
import { z } from 'zod'
import type { CommandContext } from '../../core/operation/command.ts'
import { BaxError, type ErrorCode } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { checkGroup, type FieldGroup, groupOf, levelsAround } from './form/group.ts'
import { findWidget } from './form/find-widget.ts'
import { checkField, type FormValue } from './check-field.ts'

/** A field as the page describes it. */
export const formField = z.object({ kind: z.enum(['text', 'checkbox', 'radio', 'select', 'slider']) })

export interface FieldPlan extends z.output<typeof formField> {
  /** Label or selector, as given. */
  readonly field: string
  readonly selector: string
  /** Selector for the caller. */
  readonly shown: string
  /** Whether it is an element around several fields. */
  readonly isGroup: boolean
  readonly value: FormValue
}

/** Time in which a page that is about to be replaced may have other fields, in milliseconds. */
const settlesMs = 1000

/** Finds all fields, and waits for missing ones. @throws BaxError that lists every field that cannot be set. */
export async function findFields(
  context: CommandContext,
  fields: Readonly<Record<string, FormValue>>,
  timeout_ms: number | undefined,
): Promise<FieldPlan[]> {
  const timeoutMs = timeout_ms ?? limits.command.elementMs
  const entries = Object.entries(fields)
  const started = performance.now()
  const probe = async () => {
    const found = await Promise.all(entries.map(([field, value]) => findField(context, field, value)))
    const settled = performance.now() - started > settlesMs
    // Fields that are disabled or read-only are waited for as by single commands.
    const isFinal = ({ waits }: Fault) => !waits || (waits === 'briefly' && timeout_ms === undefined)
    return { met: found.every((one) => !('fault' in one) || (settled && isFinal(one))), found }
  }
  const seen = await context.poll(probe, timeoutMs)
  if ('unanswered' in seen) throw new BaxError('timeout', `the page did not answer within ${timeoutMs} ms`)
  const faults = seen.found.filter((one) => 'fault' in one)
  if (faults.length === 0) return seen.found as FieldPlan[]
  throw new BaxError(faults[0]!.code, `no field was set: ${faults.map(({ fault }) => fault).join('; ')}`, {
    ...(faults.some(({ fault }) => fault.endsWith(' is read-only')) && { hint: readOnlyHint }),
    details: { fields: faults.map(({ field, fault }) => ({ field, error: fault })) },
  })
}

const readOnlyHint = 'if a click on a read-only field opens something, such as a calendar, choose there'

interface Fault {
  readonly field: string
  readonly fault: string
  readonly code: ErrorCode
  /** Set when waiting can help. */
  readonly waits?: 'briefly' | true
}

async function findField(context: CommandContext, field: string, value: FormValue): Promise<FieldPlan | Fault> {
  const found = (await bySelector(context, field)) ?? (await byLabel(context, field))
  if (!found) return { field, fault: `no field matches ${field}`, code: 'element_not_found', waits: true }
  const { count, selector, element, shown = selector, isGroup = false } = found
  if (count !== 1) return { field, fault: `${field} matches ${count} visible fields`, code: 'ambiguous_selector' }
  const answer = isGroup
    ? checkGroup(await describeGroup(element), value)
    : await element.evaluate(checkField, { value, textOnly: false })
  const isOption = answer.fault !== undefined && typeof value !== 'boolean'
  // A widget in place of a select element may load or add options.
  if (isOption && (await (isGroup ? isSoleCombobox(element) : isSelectOfWidget(element))))
    return { field, selector, shown, isGroup: false, value, kind: 'select' }
  if (answer.fault === undefined) return { field, selector, shown, isGroup, value, kind: answer.kind! }
  const code = answer.invalid ? 'invalid_data' : 'not_editable'
  return {
    field,
    fault: `${field} ${answer.fault}`,
    code,
    ...('waits' in answer && answer.waits && { waits: answer.waits }),
  }
}

const isSoleCombobox = async (element: Locator): Promise<boolean> =>
  (await element.evaluateHandle(groupOf)).evaluate(
    ({ parts }) => parts.length === 1 && parts[0]!.matches('[role=combobox]'),
  )

const isSelectOfWidget = async (element: Locator): Promise<boolean> => {
  const isSelect = await element.evaluate((node) => node instanceof HTMLSelectElement && !node.matches(':disabled'))
  return isSelect && (await (await element.evaluateHandle(findWidget)).evaluate(({ kind }) => kind)) === 'popup'
}

/** Returns the select element among fields with the same label, if the others are the widget that has taken its place. */
async function selectOfWidget(all: Locator, visible: Locator): Promise<Locator | null> {
  const select = all.and(all.page().locator('select'))
  if ((await select.count()) !== 1) return null
  const found = await select.evaluateHandle(findWidget)
  if ((await found.evaluate(({ kind }) => kind)) !== 'popup') return null
  const widget = await found.getProperty('element')
  const isPart = (nodes: Element[], of: Element) =>
    nodes.every((node) => node instanceof HTMLSelectElement || of.contains(node))
  return (await visible.evaluateAll(isPart as never, widget)) ? select : null
}

interface Found {
  readonly count: number
  readonly selector: string
  readonly element: Locator
  readonly shown?: string
  readonly isGroup?: boolean
}

async function describeGroup(element: Locator): Promise<Omit<FieldGroup, 'parts'>> {
  const found = await element.evaluateHandle(groupOf)
  return found.evaluate(({ kind, names, isCode }) => ({ kind, names, isCode }))
}

const checkRoles = ['checkbox', 'switch', 'radio']
const roles = [...checkRoles, 'combobox', 'listbox', 'radiogroup', 'tree', 'slider', 'textbox', 'searchbox']
const fieldCss = [
  'input:not([type=hidden]), textarea, select, [contenteditable], .monaco-editor, .CodeMirror, [aria-haspopup=listbox]',
  ...roles.map((role) => `[role=${role}]`),
].join(', ')

/** Finds a field by selector: a reference, CSS or an engine of Playwright; undefined when it is not a field. */
async function bySelector({ locateAll, measure }: CommandContext, selector: string): Promise<Found | undefined> {
  try {
    const { total } = await measure(selector, { limit: 1, includeHtml: false })
    if (total === 0) return undefined
  } catch (error) {
    // A label such as `First name *` is no selector.
    if (error instanceof BaxError && error.code === 'invalid_selector') return undefined
    throw error
  }
  const all = locateAll(selector)
  const element = all.first()
  // The label `Address` is also the selector of an element that is no field.
  const isField = await element.evaluate((node, css) => node.matches(css) || node instanceof HTMLLabelElement, fieldCss)
  return isField ? { count: 1, selector, element } : undefined
}

/** Finds a field by its whole label, by a part of it or its placeholder, else the fields that share the label. */
async function byLabel({ page, locateAll }: CommandContext, label: string): Promise<Found | undefined> {
  const quoted = JSON.stringify(label)
  const engines = [
    [`internal:label=${quoted}s`, `label=${quoted}`],
    [`internal:label=${quoted}i`, `label=${label}`],
    [`internal:attr=[placeholder=${quoted}i]`, `[placeholder=${quoted} i]`],
    ...checkRoles.map((role) => [`internal:role=${role}[name=${quoted}s]`, `role=${role}[name=${quoted}]`]),
  ] as const
  for (const [engine, shown] of engines) {
    const all = page.locator(engine).and(page.locator(fieldCss))
    const count = await all.count()
    if (count === 0) continue
    const selector = `${engine} >> internal:and=${JSON.stringify(fieldCss)}`
    if (count === 1) return { count, selector, element: all.first(), shown }
    const visible = all.filter({ visible: true })
    const isHidden = (await visible.count()) === 0
    const select = isHidden ? null : await selectOfWidget(all, visible)
    if (select) return { count: 1, selector: `${selector} >> internal:and="select"`, element: select, shown }
    const levels = await all.evaluateAll(levelsAround)
    if (levels !== null) {
      const group = `${selector} >> nth=0 >> xpath=ancestor::*[${levels}]`
      return { count: 1, selector: group, element: page.locator(group), shown, isGroup: true }
    }
    if (!isHidden)
      return { count: await visible.count(), selector: `${selector} >> visible=true`, element: visible.first(), shown }
  }
  for (const shown of [
    `role=group[name=${quoted}]`,
    `role=tablist[name=${quoted}]`,
    `label=${quoted}`,
    `role=button[name=${quoted}]`,
  ]) {
    const all = locateAll(shown).filter({ visible: true })
    const count = await all.count()
    const selector = `${shown} >> visible=true`
    const isField = count === 1 && (await all.and(page.locator(fieldCss)).count()) === 1
    if (isField && shown.startsWith('label=')) return { count, selector, element: all.first(), shown }
    if (count > 0) return { count, selector, element: all.first(), shown, isGroup: true }
  }
  return undefined
}

/** Writes steps as statements of Playwright. */
import type { ScriptStep } from '../script-steps.ts'
import { type Part, partsOf } from '../template.ts'
import { globPattern } from './glob-pattern.ts'

type Data = Readonly<Record<string, unknown>>

/** The matches that the locator of a selector is limited to, unless the selector matches one element only. */
export type Matches = 'first visible' | 'first' | 'all'

/** A step while it is written. */
interface Writing {
  readonly step: ScriptStep
  readonly data: Data
  /** Returns the code of the locator of a selector, of its first visible match by default. */
  locator(selector: unknown, matches?: Matches): string
}

/** Returns the statements of a step; undefined for a command that Playwright does not have. */
export function statementsOf(step: ScriptStep, locator: Writing['locator']): string[] | undefined {
  const data = Object.entries(step.data).map(([name, value]) => [
    name,
    step.templates?.includes(name) ? withVariables(value) : value,
  ])
  return writers[step.command]?.({ step, data: Object.fromEntries(data) as Data, locator })
}

/** Environment of the test that is written; bax itself reads none here. */
const variables = ['process', 'env'].join('.')

/** A text with values of environment variables. */
class VariableText {
  readonly #parts: readonly Part[]

  constructor(parts: readonly Part[]) {
    this.#parts = parts
  }

  get code(): string {
    const [first, ...more] = this.#parts
    if (typeof first === 'object' && more.length === 0) return `${variables}.${first.variable}!`
    const written = this.#parts.map((part) => {
      if (typeof part === 'object') return `\${${variables}.${part.variable}}`
      return escaped(part).replaceAll('`', '\\`').replaceAll('${', '\\${')
    })
    return `\`${written.join('')}\``
  }

  /** As a glob, which has no values of variables. */
  toString(): string {
    return this.#parts.map((part) => (typeof part === 'object' ? '**' : part)).join('')
  }
}

/** Replaces the templates in a value by their texts. */
function withVariables(value: unknown): unknown {
  if (typeof value === 'string') {
    const parts = partsOf(value)
    return parts.every((part) => typeof part === 'string') ? parts.join('') : new VariableText(parts)
  }
  if (Array.isArray(value)) return value.map(withVariables)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withVariables(each)]))
}

/** Writes a value as code. */
export function code(value: unknown): string {
  if (value instanceof VariableText) return value.code
  if (typeof value === 'string') return textCode(value)
  if (Array.isArray(value)) return `[${value.map(code).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const fields = Object.entries(value).map(
    ([name, each]) => `${/^\w+$/.test(name) ? name : textCode(name)}: ${code(each)}`,
  )
  return `{ ${fields.join(', ')} }`
}

const textCode = (text: string) => `'${escaped(text).replaceAll("'", "\\'")}'`

const escaped = (text: string) => JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')

const call = (target: string, method: string, ...values: unknown[]): string[] => [
  `await ${target}.${method}(${values
    .filter((value) => value !== undefined)
    .map((value) => code(value))
    .join(', ')})`,
]

const on =
  (method: string, ...fields: string[]) =>
  ({ data, locator }: Writing) =>
    call(locator(data['selector']), method, ...fields.map((field) => data[field]))

const keys = ['Alt', 'Control', 'Meta', 'Shift']

function clickOptions(data: Data): Data | undefined {
  const { button, click_count: clickCount, modifiers = 0, position } = data
  const held = keys.filter((_, bit) => Number(modifiers) & (1 << bit))
  const options = { button, clickCount, position, ...(held.length > 0 && { modifiers: held }) }
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return given.length > 0 ? Object.fromEntries(given) : undefined
}

/** Whether the element of a step contains an editor. Playwright only fills fields, and does not focus such an editor. */
const isEditor = ({ step: { fingerprint } }: Writing): boolean =>
  fingerprint !== undefined &&
  !/^(?:input|textarea|select|label)$/.test(fingerprint.tag) &&
  !/^(?:textbox|searchbox|combobox|spinbutton)$/.test(fingerprint.role ?? '')

const replaceInEditor = ({ data, locator }: Writing, text: unknown): string[] => [
  ...call(locator(data['selector']), 'click'),
  ...call('page.keyboard', 'press', 'ControlOrMeta+A'),
  ...(text === '' ? call('page.keyboard', 'press', 'Delete') : call('page.keyboard', 'insertText', text)),
]

const clear = (writing: Writing): string[] => (isEditor(writing) ? replaceInEditor(writing, '') : on('clear')(writing))

const writers: Readonly<Record<string, (writing: Writing) => string[] | undefined>> = {
  navigate_to: ({ data }) => call('page', 'goto', data['url']),
  refresh: () => call('page', 'reload'),
  go_back: () => call('page', 'goBack'),
  go_forward: () => call('page', 'goForward'),
  click: on('click'),
  double_click: on('dblclick'),
  click_advanced: ({ data, locator }) =>
    data['new_tab'] === true ? undefined : call(locator(data['selector']), 'click', clickOptions(data)),
  click_at: ({ data }) => call('page.mouse', 'click', data['x'], data['y']),
  move_mouse_to: ({ data }) => call('page.mouse', 'move', data['x'], data['y']),
  mouse_down: () => call('page.mouse', 'down'),
  mouse_up: () => call('page.mouse', 'up'),
  hover: on('hover'),
  check: on('check'),
  uncheck: on('uncheck'),
  focus: on('focus'),
  clear,
  fill: (writing) => {
    const { credential, selector, text: given } = writing.data
    const variable = typeof credential === 'string' && credential.toUpperCase().replaceAll(/\W/g, '_')
    const text = variable ? new VariableText([{ variable }]) : given
    return isEditor(writing) ? replaceInEditor(writing, text) : call(writing.locator(selector), 'fill', text)
  },
  type_text: (writing) => [
    ...(writing.data['clear'] === true ? clear(writing) : isEditor(writing) ? on('click')(writing) : []),
    ...on('pressSequentially', 'text')(writing),
  ],
  insert_text: ({ data }) => call('page.keyboard', 'insertText', data['text']),
  press_key: (writing) =>
    writing.data['selector'] === undefined
      ? call('page.keyboard', 'press', writing.data['key'])
      : on('press', 'key')(writing),
  key_down: ({ data }) => call('page.keyboard', 'down', data['key']),
  key_up: ({ data }) => call('page.keyboard', 'up', data['key']),
  select_option: (writing) => {
    const { step, data, locator } = writing
    if (step.fingerprint?.tag === 'select') return on('selectOption', 'values')(writing)
    const options = data['values'] as readonly unknown[]
    const choices = options.map((name) => `page.getByRole('option', ${code({ name, exact: true })})`)
    return choices.flatMap((choice) => [...call(locator(data['selector']), 'click'), ...call(choice, 'click')])
  },
  upload_files: (writing) => (writing.data['drop'] === true ? undefined : on('setInputFiles', 'files')(writing)),
  drag_to: ({ data, locator }) => {
    if (data['target_selector'] === undefined) return undefined
    const places = { sourcePosition: data['source_position'], targetPosition: data['target_position'] }
    const given = Object.fromEntries(Object.entries(places).filter(([, value]) => value !== undefined))
    const options = Object.keys(given).length > 0 ? `, ${code(given)}` : ''
    return [`await ${locator(data['selector'])}.dragTo(${locator(data['target_selector'])}${options})`]
  },
  scroll_into_view: on('scrollIntoViewIfNeeded'),
  scroll_to: ({ data }) => [`await page.evaluate(() => scrollTo(${code(data['x'] ?? 0)}, ${code(data['y'])}))`],
  new_tab: ({ data }) => [
    'page = await context.newPage()',
    ...(data['url'] === undefined ? [] : call('page', 'goto', data['url'])),
  ],
  switch_tab: ({ step }) =>
    step.tab === undefined ? [] : [`page = tabs[${step.tab - 1}]`, ...call('page', 'bringToFront')],
  close_tab: ({ step, data }) =>
    data['tab'] === undefined && step.tab !== undefined
      ? [...call('page', 'close'), `page = tabs[${step.tab - 1}]`]
      : undefined,
  call_page_tool: ({ data }) => {
    const { name, arguments: given = {}, frame, timeout_ms: timeout } = data
    const from = frame === undefined ? 'page.webmcp' : `page.frame(${code({ url: frame })})!.webmcp`
    return call(from, 'callTool', name, given, timeout === undefined ? undefined : { timeout })
  },
  set_viewport: ({ data }) => call('page', 'setViewportSize', { width: data['width'], height: data['height'] }),
  answer_dialog: ({ data }) => [dialogAnswer(data['accept'] !== false, data['text'])],
  evaluate: ({ data }) => call('page', 'evaluate', data['expression']),
  set_cookie: ({ data }) => {
    const { name, value, domain, path = '/' } = data
    const at = domain === undefined ? 'url: page.url()' : `domain: ${code(domain)}, path: ${code(path)}`
    return [`await context.addCookies([{ name: ${code(name)}, value: ${code(value)}, ${at} }])`]
  },
  wait_for_element: ({ data, locator }) => [
    waitFor(locator, data['selector'], data['visible_only'] === true ? 'visible' : 'attached'),
  ],
  wait_for: waitStatements,
  verify: expectations,
}

/** Returns the statement that answers the next dialog, which it has to precede. */
export const dialogAnswer = (accept: boolean, text?: unknown): string =>
  `page.once('dialog', (dialog) => dialog.${accept ? `accept(${text === undefined ? '' : code(text)})` : 'dismiss()'})`

/** Hidden elements are attached, too. */
function waitFor(locator: Writing['locator'], selector: unknown, state: unknown): string {
  const matches = state === 'attached' || state === 'detached' ? 'first' : 'first visible'
  return `await ${locator(selector, matches)}.waitFor(${code({ state })})`
}

function waitStatements({ data, locator }: Writing): string[] | undefined {
  const { function: condition, load, milliseconds, selector, state = 'visible', text, text_gone: gone, url } = data
  if (url !== undefined) return [`await page.waitForURL(${globPattern(String(url))})`]
  if (selector !== undefined) return [waitFor(locator, selector, state)]
  if (text !== undefined) return [`await page.getByText(${code(text)}).filter({ visible: true }).first().waitFor()`]
  if (gone !== undefined)
    return [`await expect(page.getByText(${code(gone)}).filter({ visible: true })).toHaveCount(0)`]
  if (load !== undefined) return call('page', 'waitForLoadState', load)
  if (condition !== undefined) return call('page', 'waitForFunction', condition)
  return milliseconds === undefined ? undefined : call('page', 'waitForTimeout', milliseconds)
}

const states: Readonly<Record<string, string>> = {
  visible: 'toBeVisible()',
  hidden: 'toBeHidden()',
  enabled: 'toBeEnabled()',
  disabled: 'toBeDisabled()',
  checked: 'toBeChecked()',
  unchecked: 'not.toBeChecked()',
  editable: 'toBeEditable()',
  focused: 'toBeFocused()',
}

function expectations({ data, locator }: Writing): string[] | undefined {
  const { count, list, selector, state, text, title, url, value } = data
  const element = selector === undefined ? undefined : locator(selector)
  const expected: string[] = []
  if (title !== undefined) expected.push(`expect(page).toHaveTitle(${code(title)})`)
  if (url !== undefined) expected.push(`expect(page).toHaveURL(${globPattern(String(url))})`)
  if (text !== undefined) {
    const where = element ?? "page.locator('body')"
    expected.push(`expect(${where}).toContainText(${code(text)}, { ignoreCase: true, useInnerText: true })`)
  }
  if (value !== undefined) expected.push(`expect(${element}).toHaveValue(${code(value)})`)
  if (state !== undefined) expected.push(`expect(${element}).${states[String(state)]}`)
  const all = selector === undefined ? undefined : locator(selector, 'all')
  if (count !== undefined) expected.push(`expect(${all}).toHaveCount(${code(count)})`)
  if (list !== undefined) expected.push(`expect(${all}).toHaveText(${code(list)}, { useInnerText: true })`)
  if (expected.length === 0 && element !== undefined) expected.push(`expect(${element}).toBeVisible()`)
  return expected.map((each) => `await ${each}`)
}

/** Converts actions of Playwright's recorder to steps. */
import { z } from 'zod'
import { catalogue } from '../../../commands/index.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { fingerprint, type RecordedStep } from '../../../core/shapes/recording.ts'
import { convertSelector } from './selectors.ts'

const text = z.string().max(limits.input.typedChars)
const selector = z.string().min(1).max(limits.input.selectorChars)
const fields = z.string().max(limits.scriptRecording.textChars)

const factsShape = z.object({
  name: z.string().optional(),
  at: z.number(),
  fingerprint,
  secret: z.boolean(),
  files: z.array(fields).max(limits.input.names).nullable(),
  names: z.array(z.string().max(limits.input.labelChars)).max(5),
  followsClick: z.boolean(),
})

const pixels = z.object({ x: z.number(), y: z.number() })

/** The end of a drag; `own` is the selector of the dragged element within its frame, `target` also, unless `isElsewhere`. */
const dragShape = z.object({
  own: selector,
  target: selector.optional(),
  isElsewhere: z.boolean().default(false),
  from: pixels.optional(),
  to: pixels,
})

/** An action. The page can forge it, since the recorder runs in its world. */
const actionShape = z.object({
  name: z.string(),
  selector: selector.optional(),
  text: text.optional(),
  value: text.optional(),
  checked: z.boolean().optional(),
  key: z.string().min(1).max(100).optional(),
  /** Whether a key or text goes to what has the focus. */
  toFocus: z.boolean().default(false),
  modifiers: z.int().min(0).max(15).default(0),
  options: z.array(z.string().max(limits.input.selectorChars)).max(limits.input.fields).optional(),
  button: z.enum(['left', 'middle', 'right']).default('left'),
  clickCount: z.int().default(1),
  position: pixels.optional(),
  drag: dragShape.optional(),
  what: fields.default('an action'),
  bax: factsShape.optional(),
})

type Action = z.output<typeof actionShape>
type Facts = z.output<typeof factsShape>
type Step = Pick<RecordedStep, 'command' | 'data' | 'secret'>

/** An action as a step, with the time of its input. */
export interface TimedStep {
  readonly at: number
  readonly step: RecordedStep
  /** Whether the step includes the click before it: a second click on the element, or files that the first asked for. */
  readonly includesClick: (before: RecordedStep) => boolean
}

/** Reference to the password that a script takes from the environment. */
const passwordReference = '${env.PASSWORD}'

/**
 * Returns the step of an action; undefined when it needs none.
 * @throws BaxError `unsupported` when no command can repeat it
 */
export function stepOf(raw: unknown): TimedStep | undefined {
  const parsed = actionShape.safeParse(raw)
  if (!parsed.success) throw notRecorded(`the action ${nameOf(raw)}`, 'it is not valid')
  const action = parsed.data
  const { bax: facts } = action
  const name = facts?.name ?? action.name
  if (name === 'lost') throw notRecorded(action.what, 'no command repeats it')
  const converted = action.selector && convertSelector(action.selector, { names: facts?.names ?? [] })
  const step = converters[name]?.(action, { selector: converted ?? '' }, facts)
  if (!step || step.data['selector'] === '') return undefined
  const checked = catalogue.get(step.command)?.data.safeParse(step.data)
  if (checked && !checked.success) throw notRecorded(step.command, checked.error.issues[0]!.message)
  const hasElement = step.command !== 'verify' && step.data['selector'] !== undefined
  return {
    at: facts?.at ?? Date.now(),
    includesClick: ({ data }) =>
      facts?.followsClick === true || (action.clickCount > 1 && data['selector'] === step.data['selector']),
    step: { ...step, ...(facts && hasElement && { fingerprint: facts.fingerprint }) },
  }
}

const nameOf = (raw: unknown) => JSON.stringify(String((raw as { name?: unknown } | null)?.name)).slice(0, 60)

const notRecorded = (what: string, why: string) => new BaxError('unsupported', `${what} was not recorded: ${why}`)

type Converter = (action: Action, target: { selector: string }, facts: Facts | undefined) => Step | undefined

const simple =
  (command: string): Converter =>
  (_action, target) => ({ command, data: target })

const converters: Readonly<Record<string, Converter>> = {
  click: ({ button, clickCount, modifiers, position }, target) => {
    const isPlain = button === 'left' && modifiers === 0 && !position
    if (isPlain && clickCount <= 1) return { command: 'click', data: target }
    if (isPlain && clickCount === 2) return { command: 'double_click', data: target }
    const how = {
      ...(button !== 'left' && { button }),
      ...(clickCount > 1 && { click_count: Math.min(clickCount, 10) }),
      ...(modifiers > 0 && { modifiers }),
      ...(position && { position }),
    }
    return { command: 'click_advanced', data: { ...target, ...how } }
  },
  check: simple('check'),
  uncheck: simple('uncheck'),
  hover: simple('hover'),
  fill: (action, target, facts) => {
    if (facts?.files) return { command: 'upload_files', data: { ...target, files: facts.files } }
    // Without facts, the field may be one for a password.
    const secret = facts?.secret ?? true
    if (secret) return { command: 'fill', data: { ...target, text: passwordReference }, secret: true }
    return { command: 'fill', data: { ...target, text: action.text ?? '' } }
  },
  dropFiles: (_action, target, facts) => ({
    command: 'upload_files',
    data: { ...target, files: facts?.files ?? [], drop: true },
  }),
  type: ({ text: typed = '', toFocus }, target) =>
    toFocus
      ? { command: 'insert_text', data: { text: typed } }
      : { command: 'type_text', data: { ...target, text: typed } },
  press: ({ key, modifiers, toFocus }, target) => {
    if (key === undefined || key === 'Dead' || key === 'Unidentified') return undefined
    const held = (['Alt', 'Control', 'Meta', 'Shift'] as const).filter((_, bit) => modifiers & (1 << bit))
    return {
      command: 'press_key',
      data: { ...(!toFocus && target), key: [...held, key === ' ' ? 'Space' : key].join('+') },
    }
  },
  drag: ({ drag, selector: full = '' }, target) => {
    if (!drag) return undefined
    const frames = full.endsWith(drag.own) && !drag.isElsewhere ? full.slice(0, -drag.own.length) : ''
    const on =
      drag.target === undefined ? {} : { target_selector: convertSelector(frames + drag.target, { names: [] }) }
    const places = { ...(drag.from && { source_position: drag.from }), target_position: drag.to }
    return { command: 'drag_to', data: { ...target, ...on, ...places } }
  },
  select: ({ options = [] }, target) =>
    options.length > 0 ? { command: 'select_option', data: { ...target, values: options } } : undefined,
  assertVisible: simple('verify'),
  assertText: (action, target) => ({ command: 'verify', data: { ...target, text: action.text } }),
  assertValue: ({ value }, target) => ({ command: 'verify', data: { ...target, value } }),
  assertChecked: ({ checked }, target) => ({
    command: 'verify',
    data: { ...target, state: checked ? 'checked' : 'unchecked' },
  }),
}

/** The command that verifies what a page shows. */
import type { Locator } from 'playwright'
import { z } from 'zod'
import { type CallLimit, type CommandContext, defineCommand } from '../../core/operation/command.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { integer } from '../../core/shapes/fields.ts'
import { describeElement } from '../element-facts.ts'
import { elementTimeout, selector } from '../fields.ts'
import { countVisible, stateFrom } from '../read/state.ts'
import { readValue } from '../read/value.ts'
import { containing, excerptOf, shortened, shownText } from './page-text.ts'
import { squeeze } from '../../core/text/pieces.ts'

const label = z.string().max(limits.input.labelChars)
const needSelector = ['state', 'value', 'list', 'count'] as const

const data = z
  .object({
    selector: selector.optional().describe('Element to verify; must be visible when nothing else is verified'),
    state: z
      .enum(['visible', 'hidden', 'enabled', 'disabled', 'checked', 'unchecked', 'editable', 'focused'])
      .optional()
      .describe('State of the element; hidden includes a missing one'),
    text: label.min(1).optional().describe('Text that the element, else the page, contains, in upper or lower case'),
    value: label.optional().describe('Value of the field'),
    list: z
      .array(label)
      .max(limits.input.items)
      .optional()
      .describe('Texts of all matches in order; for a single match, of its children'),
    count: integer(0, 1_000_000).optional().describe('Number of matches'),
    url: label.optional().describe('Glob of the URL: * matches anything but slashes, ** anything'),
    title: label.optional().describe('Title of the page'),
    timeout_ms: elementTimeout,
  })
  .refine(({ selector, text, url, title }) => [selector, text, url, title].some((each) => each !== undefined), {
    message: 'needs a selector, text, url or title',
  })
  .refine((given) => given.selector !== undefined || needSelector.every((name) => given[name] === undefined), {
    message: `is required by ${needSelector.join(', ')}`,
    path: ['selector'],
  })

type Given = z.output<typeof data>
type Name = Exclude<keyof Given, 'selector' | 'timeout_ms'>

export const verify = defineCommand({
  kind: 'action',
  summary: 'Verify an element, text, value, list or URL',
  positional: [['selector']],
  example: ["'#total' --text '12.50'", "'#buy' --state enabled", "--url '**/done'", 'li --count 3'],
  data,
  waits: true,
  result: null,
  run: async (context, given) => {
    const { selector, timeout_ms = limits.command.elementMs } = given
    // Reports an invalid selector.
    if (selector !== undefined) await context.measure(selector, { limit: 1, includeHtml: false })
    const named = (Object.keys(checks) as Name[]).filter((name) => given[name] !== undefined)
    const all = named.length > 0 ? given : { ...given, state: 'visible' as const }
    for (const name of named.length > 0 ? named : (['state'] as const)) {
      const seen = await context.poll(() => checks[name](context, all), timeout_ms)
      if (seen.met) continue
      const subject = selector ?? 'the page'
      if ('unanswered' in seen) throw new BaxError('timeout', `the page did not answer within ${timeout_ms} ms`)
      const expected = all[name]
      const message = `expected ${subject} ${seen.relation} ${shown(expected)}, but ${seen.actual}`
      throw new BaxError('expectation_failed', message, {
        details: { ...(selector !== undefined && { selector }), expected, actual: seen.value ?? null },
      })
    }
  },
})

interface Seen {
  readonly met: boolean
  /** `to contain`, before the expected value. */
  readonly relation: string
  /** Actual state of the page, for the error message and as a value. */
  readonly actual: string
  readonly value?: unknown
}

const shown = (value: unknown) => JSON.stringify(value)

const nothing = { met: false, actual: 'no element matches' } as const

/** Reads from the element of the command; undefined when there is none. */
async function read<T>(
  { locateAll }: CommandContext,
  { selector }: Given,
  work: (element: Locator, limit: Pick<CallLimit, 'timeout'>) => Promise<T>,
): Promise<T | undefined> {
  const all = locateAll(selector!)
  const visible = all.filter({ visible: true })
  const from = (await visible.count()) > 0 ? visible : all
  return (await from.count()) > 0 ? work(from.first(), { timeout: limits.command.elementMs }) : undefined
}

/** Returns the rendered texts of the first elements; SVG elements and fields have no inner text. */
const textsOf = (elements: Element[], most: number) =>
  elements.slice(0, most).map((element) => {
    if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) return element.value
    return element instanceof HTMLElement ? element.innerText : (element.textContent ?? '')
  })

/** Texts of a list that does not match, in the error. */
const listedItems = 100

const checks: Readonly<Record<Name, (context: CommandContext, given: Given) => Promise<Seen>>> = {
  async state(context, given) {
    const { state } = given
    const relation = 'to be'
    if (state === 'visible' || state === 'hidden') {
      const isVisible = (await countVisible(context, given.selector!)) > 0
      const { total } = await context.measure(given.selector!, { limit: 1, includeHtml: false })
      const actual = isVisible ? 'it is visible' : total > 0 ? 'it is hidden' : 'no element matches'
      return { met: isVisible === (state === 'visible'), relation, actual, value: isVisible ? 'visible' : 'hidden' }
    }
    const found = await read(context, given, async (element, limit) =>
      stateFrom(
        await element.evaluate(describeElement, undefined, limit),
        await element.getAttribute('aria-checked', limit),
      ),
    )
    if (!found) return { ...nothing, relation }
    const met = state === 'unchecked' ? found.checked === false : found[state!] === true
    const value = Object.entries(found).flatMap(([name, is]) => (is === true ? [name] : []))
    return { met, relation, actual: `it is ${value.join(', ')}`, value }
  },

  async text(context, given) {
    const relation = 'to contain'
    if (given.selector === undefined) {
      if ((await shownText(context.page, given.text!)) !== null) return { met: true, relation, actual: '' }
      return { met: false, relation, actual: await excerptOf(context.page) }
    }
    const text = await read(context, given, async (element) => (await element.evaluateAll(textsOf, 1))[0])
    if (text === undefined) return { ...nothing, relation }
    const value = shortened(text)
    return { met: containing(given.text!)(text), relation, actual: `it is ${shown(value)}`, value }
  },

  async value(context, given) {
    const relation = 'to have the value'
    const found = await read(context, given, (element, limit) => readValue(element, given.selector!, limit))
    if (found === undefined) return { ...nothing, relation }
    // As observations show the values of a list.
    const value = [found].flat().join(', ')
    return { met: value === given.value, relation, actual: `it is ${shown(shortened(value))}`, value }
  },

  async list(context, given) {
    const relation = 'to list'
    const all = context.locateAll(given.selector!)
    const matched = await all.count()
    const parts = matched === 1 && given.list!.length !== 1 ? all.locator('> *') : all
    // A page may have any number of matches.
    const texts = await parts.evaluateAll(textsOf, Math.max(listedItems, given.list!.length + 1))
    const value = texts.map(squeeze)
    const met = value.length === given.list!.length && value.every((text, at) => text === given.list![at]!.trim())
    return {
      met,
      relation,
      actual: matched === 0 ? nothing.actual : `it is ${shown(value.slice(0, listedItems))}`,
      value,
    }
  },

  async count({ measure }, { selector, count }) {
    const { total } = await measure(selector!, { limit: 1, includeHtml: false })
    return { met: total === count, relation: 'to match this many elements:', actual: `${total} match`, value: total }
  },

  async url({ page, matcher }, { url }) {
    const met = matcher({ glob: url! }, 'url')(page.url())
    return { met, relation: 'to have the URL', actual: `it is ${shortened(page.url())}`, value: page.url() }
  },

  async title(context, { title }) {
    const value = await context.title()
    return { met: value === title, relation: 'to have the title', actual: `it is ${shown(value)}`, value }
  },
}

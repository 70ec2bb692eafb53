/** Converts selectors to Playwright's: CSS and its engines, `ref=e12`, `label=…`, `frame=… >> …`. */
import type { Locator, Page } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { playwrightRef } from './refs.ts'
import { hasIcons, iconOrSpace, tooltipAttributes } from './icons.ts'
import { formItem, labelledByFor, rowField } from './form-item.ts'
import type { ListFunction } from '../page/page-function.ts'

/** A parsed selector: the frames to enter, and the selector in the last of them. */
export interface ParsedSelector {
  /** CSS of each frame element, outermost first. */
  readonly frames: readonly string[]
  /** As written. */
  readonly inner: string
  /** Set when the selector starts with a reference of a snapshot. */
  readonly ref: string | null
}

// Quoted parts may contain `>>`.
const framePart = /^\s*frame=((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^"'])*?)\s*(?:>>\s*|$)/
const refPart = /^\s*ref=([^\s>]*)/
const refForm = /^(?:f\d+)?e\d+$/

/** Parses a selector. @throws BaxError `invalid_selector` for an invalid frame or reference. */
export function parseSelector(selector: string): ParsedSelector {
  const frames: string[] = []
  let rest = selector
  for (let part = framePart.exec(rest); part; part = framePart.exec(rest)) {
    if (part[1] === '') throw invalid(selector, 'frame= needs the CSS selector of an iframe')
    frames.push(part[1]!)
    rest = rest.slice(part[0].length)
  }
  if (rest.trim() === '') {
    if (frames.length === 0) throw invalid(selector, 'it is empty')
    return { frames, inner: ':root', ref: null }
  }
  const ref = refPart.exec(rest)?.[1]
  if (ref === undefined) return { frames, inner: rest, ref: null }
  if (!refForm.test(ref)) throw invalid(selector, 'a reference looks like ref=e12')
  return { frames, inner: rest.trimStart(), ref }
}

/** Splits a selector at `>>`, except inside quotes. */
export function splitParts(selector: string): string[] {
  const parts = ['']
  for (const [token] of selector.matchAll(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|>>|[\s\S]/g)) {
    if (token === '>>') parts.push('')
    else parts[parts.length - 1] += token
  }
  return parts.map((part) => part.trim())
}

/**
 * Converts selectors whose meaning differs from Playwright's: `label=Email`, and `label="Email"` for the exact text, to
 * the engine behind `getByLabel`, and to the fields beside a label without a reference to them; names in `role=button[name="Compose"]` so that they match without the icons around.
 */
export function converted(selector: string): string {
  if (!/label=|role=/.test(selector)) return selector
  const before: string[] = []
  const parts = splitParts(selector).map((part) => {
    const all = convertedPart(part, before)
    before.push(all)
    return all
  })
  return parts.join(' >> ')
}

const nameAttribute = /\[name=("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')( ?[si])?\]/

function convertedPart(part: string, before: readonly string[]): string {
  if (part.startsWith('role=')) {
    const own = part.replace(nameAttribute, nameWithIcons)
    const others = [editorWithoutRole(own), byTooltip(part)].filter((other) => other !== undefined)
    return [own, ...others.map((other) => JSON.stringify([...before, other].join(' >> ')))].join(' >> internal:or=')
  }
  const text = /^label=(.*)$/s.exec(part)?.[1]
  if (text === undefined) return part
  const exact = /^"(?:\\.|[^"\\])*"$/.test(text)
  const own = exact ? `internal:label=${text}s` : `internal:label=${JSON.stringify(text)}i`
  const shown = exact ? text.slice(1, -1).replaceAll(/\\(.)/gs, '$1') : text
  const others = [labelledByFor(shown), formItem(shown), rowField(shown), ...byDrawnName(shown)].map((other) =>
    JSON.stringify([...before, other].join(' >> ')),
  )
  return [own, ...others].join(' >> internal:or=')
}

const fieldRoles = 'textbox combobox searchbox spinbutton checkbox radio switch slider listbox'.split(' ')

/** Returns selectors for fields by a name with symbols that styles may draw, such as the star of a required field. */
const byDrawnName = (name: string): string[] =>
  /^[^\p{L}\p{N}]|[^\p{L}\p{N}]$/u.test(name)
    ? fieldRoles.map((role) => `role=${role}[name=${JSON.stringify(name)}]`.replace(nameAttribute, nameWithIcons))
    : []

const editors = 'css=[contenteditable]:not([role], [contenteditable=false], [contenteditable] [contenteditable])'

/** Returns a selector for the editors without a role that snapshots list as text fields with this name, if any. */
function editorWithoutRole(part: string): string | undefined {
  const [isTextbox, name] = /^role=textbox(?:\[name=(.+)\])?$/s.exec(part) ?? []
  if (isTextbox === undefined) return undefined
  return name === undefined ? editors : `${editors} >> internal:and=${JSON.stringify(`internal:label=${name}`)}`
}

/** Returns the attribute of a name as a regular expression that allows icons where snapshots omit them. */
function nameWithIcons(given: string, quoted: string, flag = ''): string {
  const name = unquoted(quoted).trim()
  if (name === '' || hasIcons(name)) return given
  // Playwright would split a selector at `>>` in a regular expression, and look for the end of quotes in it.
  const words = name.split(/\s+/).map((word) => word.replaceAll(/["$'()*+./>?[\\\]^`{|}]/g, String.raw`\$&`))
  return `[name=/^${iconOrSpace}*${words.join(`${iconOrSpace}+`)}${iconOrSpace}*$/${flag.trim() === 'i' ? 'i' : ''}]`
}

const unquoted = (quoted: string): string => quoted.slice(1, -1).replaceAll(/\\(.)/gs, '$1')

/** Returns a selector for elements whose name is an icon, and which snapshots name by their tooltip, if it has a name. */
function byTooltip(part: string): string | undefined {
  const [, quoted, flag] = nameAttribute.exec(part) ?? []
  if (quoted === undefined) return undefined
  const value = `${JSON.stringify(unquoted(quoted))}${flag?.trim() === 'i' ? ' i' : ''}`
  const css = tooltipAttributes.map((name) => `[${name}=${value}]`).join(', ')
  return `${part.replace(nameAttribute, `[name=/^${iconOrSpace}+$/]`)} >> internal:and=${JSON.stringify(`css=${css}`)}`
}

/** Returns a locator for all matches of a selector. */
export function locateAll(page: Page, { frames, inner, ref }: ParsedSelector): Locator {
  // A reference includes its frame.
  if (ref !== null) return page.locator(inner.replace(/^ref=[^\s>]*/, `aria-ref=${playwrightRef(page, ref)}`))
  if (frames.length === 0) return page.locator(converted(inner))
  const [first, ...deeper] = frames as [string, ...string[]]
  const frame = deeper.reduce((outer, css) => outer.frameLocator(css).first(), page.frameLocator(first).first())
  return frame.locator(converted(inner))
}

/** Returns the selector of a locator, in Playwright's form. */
export const selectorOf = (locator: Locator): string => (locator as unknown as { readonly _selector: string })._selector

/** Returns the selector of a locator in the main frame; undefined if it enters another one, also by a reference. */
export function selectorInMain(locator: Locator): string | undefined {
  const selector = selectorOf(locator)
  return /internal:control=enter-frame|^aria-ref=f\d/.test(selector) ? undefined : selector
}

/** Evaluates a function on all matches of a selector, without waiting. @throws BaxError `invalid_selector`. */
export async function evaluateAll<Output, Options>(
  page: Page,
  selector: string,
  work: ListFunction<Output, Options>,
  options: Options,
): Promise<Output> {
  const parsed = parseSelector(selector)
  const all = locateAll(page, parsed)
  try {
    // Playwright resolves the frame of a reference only for single elements, not for lists. Its types convert handles in
    // arguments, which a generic type of options cannot satisfy.
    if (isFrameRef(page, parsed) && (await all.count()) > 0)
      return await all.first().evaluate(work.one as never, options)
    return await all.evaluateAll(work.all as never, options)
  } catch (error) {
    throw selectorFault(error, selector) ?? error
  }
}

/** Returns whether a selector starts with a reference to an element inside a frame. */
export const isFrameRef = (page: Page, { ref }: ParsedSelector): boolean =>
  ref !== null && playwrightRef(page, ref).startsWith('f')

/** Returns the root element of the document that a selector searches. */
export const rootOf = (page: Page, parsed: ParsedSelector): Locator =>
  locateAll(page, { ...parsed, inner: ':root' }).first()

const invalid = (selector: string, why: string) =>
  new BaxError('invalid_selector', `${JSON.stringify(selector)} is not a selector: ${why}`, { details: { selector } })

const parseErrors =
  /while parsing|Unknown engine|is not a valid (?:selector|XPath)|Malformed|not allowed inside|Selector cannot|Invalid frame in aria-ref|Unexpected (?:token|end) .*selector|InvalidSelector|Failed to execute '(?:querySelector|evaluate)/i

/** Returns the error for a selector that does not parse; undefined for other errors. */
export function selectorFault(error: unknown, selector: string): BaxError | undefined {
  const message = error instanceof Error ? error.message : ''
  if (!parseErrors.test(message)) return undefined
  const first = message
    .split('\n', 1)[0]!
    .replace(/^[\w.]+: /, '')
    .replace(/^Error: /, '')
    .replace(/ Did you mean to CSS\.escape it\?$/, '')
  return new BaxError('invalid_selector', `${JSON.stringify(selector)} is not a selector: ${first}`, {
    details: { selector },
    cause: error,
  })
}

/** Builds the error for a reference whose element no longer exists. */
export const staleRef = (selector: string, { ref }: ParsedSelector): BaxError =>
  new BaxError('stale_ref', `no element has the reference ${ref}: it is gone from the page, or was never on it`, {
    hint: 'run "bax observe" again and use the new refs',
    details: { selector, matched: 0, candidates: [] },
  })

/** Tools that open and use pages. */
import { z } from 'zod'
import { navigate_to } from '../../commands/navigation.ts'
import { find_text } from '../../commands/read/find-text.ts'
import { wait_for } from '../../commands/wait/wait-for.ts'
import { observationText } from '../../core/text/observation.ts'
import { diffText, fullText } from '../../core/text/changes.ts'
import type { Input } from '../../client/calls.ts'
import { limits } from '../../core/limits/limits.ts'
import { printable } from '../../core/shapes/fields.ts'
import { observationOptions } from '../../core/shapes/observe.ts'
import { operations } from '../../operations/index.ts'
import { oneCommand, parseLines, runStep } from '../steps.ts'
import { defineTool, PageFailure } from '../tool.ts'

/** Name of a session of the client, or the ID of an existing one. One tool describes it to agents. */
export const session = printable(limits.input.nameChars).min(1).optional()

const { interactive_only, max_chars, selector } = observationOptions.shape

const view = {
  interactive_only: interactive_only.describe(''),
  max_chars: max_chars.unwrap().default(limits.mcp.viewChars).describe(''),
}

export const browserOpen = defineTool({
  name: 'browser_open',
  description: 'Open a URL in the browser and read the page. References such as [ref=e12] are written @e12.',
  uses: [operations.browserStep, operations.createSession],
  effect: 'read',
  input: z.object({
    url: navigate_to.data.shape.url.describe(''),
    ...view,
    // Explained once: agents read this tool first.
    interactive_only: view.interactive_only.describe('Only controls and headings'),
    session: session.describe('Name of another session, or the ID of a connected browser'),
  }),
  async run(call, { url, session: name, ...observing }) {
    const { connection } = call
    connection.assertAllowed(url)
    const id = await connection.openSession(name)
    return runStep(call, id, [{ command: 'navigate_to', data: { url } }], { ...observing, diff: false })
  },
})

export const browserObserve = defineTool({
  name: 'browser_observe',
  description: 'Read the page again: all of it, an element, what has changed, or the places of a text.',
  uses: [operations.observe, operations.runCommands],
  effect: 'read',
  input: z.object({
    selector: selector.describe('Element to read: @e12 or CSS'),
    find: find_text.data.shape.text.optional().describe(''),
    diff: z.boolean().default(false).describe('Only changes since the last observation'),
    ...view,
    session,
  }),
  async run({ connection, signal }, { session: name, find, selector: target, diff, ...options }) {
    const session_id = await connection.session(name)
    const scope = target === undefined ? {} : { selector: target }
    if (find !== undefined) {
      const data = { text: find, ...scope }
      const { result, total } = await oneCommand<Found>({ connection, signal }, session_id, 'find_text', data)
      const lines = result.value.map(({ ref, role, text }) => `${ref ? `@${ref} ` : ''}${role} ${JSON.stringify(text)}`)
      return { text: `${total} found`, page: lines.join('\n') }
    }
    const include: Input<'observe'>['include'] = ['snapshot', 'tabs']
    const input = { session_id, include, diff, ...scope, ...options }
    const body = await connection.ask('observe', input, signal)
    if (!body.success) throw new PageFailure(body)
    if (body.changes) return { page: diffText(body.changes) }
    return { ...(body.full && { text: fullText[body.full] }), page: observationText(body, false) }
  },
})

interface Found {
  readonly result: {
    readonly value: readonly { readonly ref: string | null; readonly role: string; readonly text: string }[]
  }
  readonly total: number
}

export const browserAct = defineTool({
  name: 'browser_act',
  description:
    'Run commands in the page, in order, and report what changed. Each is one line: click @e5; fill @e6 "a text"; ' +
    'type @e6 text; press Enter; select @e7 Large; check @e8; hover, scroll down 400; upload @e9 file; back; ' +
    'dialog accept; tab new URL; tab tab_1; get text h1; eval "document.title". --help after a command lists its fields.',
  uses: [operations.browserStep],
  effect: 'destroy',
  input: z.object({
    commands: z.array(z.string().min(1).max(limits.mcp.commandChars)).min(1).max(limits.mcp.commands).describe(''),
    interactive_only: view.interactive_only,
    max_chars: max_chars.unwrap().optional().describe(''),
    session,
  }),
  async run(call, { commands: lines, session: name, ...observing }) {
    const parsed = parseLines(lines, call.connection)
    if (typeof parsed === 'string') return { text: parsed }
    return runStep(call, await call.connection.session(name), parsed, { ...observing, diff: true })
  },
})

const waits = wait_for.data.shape

export const browserWait = defineTool({
  name: 'browser_wait',
  description: 'Wait for one condition, and report what changed.',
  uses: [operations.browserStep],
  effect: 'read',
  input: z.object({
    text: waits.text.describe('Text that appears'),
    text_gone: waits.text_gone.describe('Text that disappears'),
    selector: waits.selector.describe(''),
    state: waits.state.describe(''),
    url: waits.url.describe('Glob of the URL'),
    milliseconds: waits.milliseconds.describe(''),
    timeout_ms: waits.timeout_ms.describe(''),
    session,
  }),
  async run(call, { session: name, ...data }) {
    const id = await call.connection.session(name)
    return runStep(call, id, [{ command: 'wait_for', data }], { diff: true })
  },
})

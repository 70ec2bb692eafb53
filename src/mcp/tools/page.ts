/** Tools that get data, images and files out of a session. */
import { z } from 'zod'
import { extract_structured_content } from '../../commands/content.ts'
import { screenshot } from '../../commands/media/screenshot.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { Annotation } from '../../core/shapes/commands.ts'
import { operations, transfers } from '../../operations/index.ts'
import type { Connection } from '../connection.ts'
import { fileUri, readDownload } from '../resources.ts'
import { oneCommand } from '../steps.ts'
import { defineTool, type ToolAnswer } from '../tool.ts'
import { session } from './browser.ts'

const { query, schema } = extract_structured_content.data.shape

export const browserExtract = defineTool({
  name: 'browser_extract',
  description: 'Turn the open page into JSON, by a question or a JSON Schema.',
  uses: [operations.runCommands],
  effect: 'read',
  input: z.object({ query: query.describe('What to extract'), schema: schema.describe(''), session }),
  output: z.object({ value: z.unknown(), source: z.enum(['model', 'heuristic']), valid: z.boolean() }),
  async run(call, { session: name, ...data }) {
    const id = await call.connection.session(name)
    const found = await oneCommand<Extracted>(call, id, 'extract_structured_content', data)
    const { result, source, valid, errors } = found
    return {
      ...(!valid && { text: 'does not match the schema' }),
      page: [...(valid ? [] : errors), JSON.stringify(result.value)].join('\n'),
      data: { value: result.value, source, valid },
    }
  },
})

interface Extracted {
  readonly result: { readonly value: unknown }
  readonly source: 'model' | 'heuristic'
  readonly valid: boolean
  readonly errors: readonly string[]
}

const { full_page, selector, annotate } = screenshot.data.shape

export const browserScreenshot = defineTool({
  name: 'browser_screenshot',
  description: 'Take a picture of the page. Prefer browser_observe for reading.',
  uses: [operations.runCommands],
  effect: 'read',
  input: z.object({
    full_page: full_page.describe(''),
    selector: selector.describe('Only this element'),
    annotate: annotate.describe('Draw and list the references of controls'),
    session,
  }),
  async run(call, { session: name, ...options }) {
    const { connection } = call
    const id = await connection.session(name)
    const shot = { ...options, format: 'jpeg', quality: 70, scale: 'css' }
    const { screenshot: data, annotations = [] } = await oneCommand<Shot>(call, id, 'screenshot', shot)
    const mimeType = 'image/jpeg'
    const lines = annotations.map(({ ref, role, name: label }) => `@${ref} ${role} ${JSON.stringify(label)}`)
    return {
      ...(connection.keepsContent && { text: connection.stored.add('screenshot', mimeType, data) }),
      page: lines.join('\n'),
      image: { data, mimeType },
    }
  },
})

interface Shot {
  readonly screenshot: string
  readonly annotations?: readonly Annotation[]
}

export const browserSession = defineTool({
  name: 'browser_session',
  description: 'List tabs, dialogs and files (downloads) of the session, read one file, or close the session.',
  uses: [operations.observe, operations.listSessionFiles, operations.closeSession],
  effect: 'read',
  input: z.object({
    action: z.enum(['show', 'read_file', 'close']).default('show').describe(''),
    file: transfers.downloadSessionFile.input.shape.name.optional().describe(''),
    session,
  }),
  async run({ connection, signal }, { action, file, session: name }): Promise<ToolAnswer> {
    if (action === 'close') {
      await connection.endSession(name)
      return { text: 'closed' }
    }
    const session_id = await connection.session(name)
    if (action === 'show') return show(connection, session_id, signal)
    if (file === undefined) throw new BaxError('invalid_request', 'file is required')
    const uri = fileUri(session_id, file)
    const content = await readDownload(
      connection.calls.download('downloadSessionFile', { session_id, name: file }, { signal }),
    )
    if (content.text !== undefined) return { page: content.text }
    return { page: `${file}: ${content.mimeType}`, links: [{ uri, name: file, mimeType: content.mimeType }] }
  },
})

async function show(connection: Connection, session_id: string, signal: AbortSignal): Promise<ToolAnswer> {
  const held = await connection.sessions.list()
  const isRelay = session_id.startsWith('rly_')
  const [page, { files }] = await Promise.all([
    connection.ask('observe', { session_id, include: ['tabs', 'console'] }, signal),
    isRelay ? { files: [] } : connection.ask('listSessionFiles', { session_id }, signal),
  ])
  const { tabs = [], dialogs, console: messages = [] } = page
  return {
    ...(held.length > 1 && { text: `sessions: ${held.map(({ name }) => name).join(', ')}` }),
    page: [
      ...tabs.map(({ tab_id: id, url, title, active }) => `${id}${active ? ' (active)' : ''}: ${title} ${url}`),
      ...dialogs.map(({ kind, message, open }) => `dialog: ${kind} ${JSON.stringify(message)}${open ? ' (open)' : ''}`),
      ...files.map(({ name, size, source }) => `file: ${name} (${source}, ${size} bytes)`),
      ...messages.filter(({ level }) => level === 'error').map(({ text }) => `console error: ${text}`),
    ].join('\n'),
  }
}

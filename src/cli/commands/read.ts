/** `bax read`: prints the text of a page or file, or a part of it. */
import { uncheckedFields } from '../../client/calls.ts'
import { BaxError, exits } from '../../core/errors/errors.ts'
import type { Param } from '../../core/operation/params.ts'
import { note, print } from '../io.ts'
import { showWarning } from '../output/output.ts'
import { addParam } from '../../lines/flags.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { readParams, requiredWord } from '../../lines/typed.ts'
import { flagValue } from '../../lines/values.ts'
import { isFile, readFileSource, readPageSource } from '../read/read-source.ts'
import { selectPart } from '../read/select.ts'
import { addIdentityFlags, addProxyFlag, addSessionFlag } from '../scrape/identity-flags.ts'
import { scrapeFields } from '../scrape/scrape-pages.ts'

/** Options of a scrape that do not change its text. */
const notFlags = new Set([
  'formats',
  'json_options',
  'change_tracking_options',
  'actions',
  'prefer_markdown',
  'remove_base64_images',
])

const params = {
  outline: {
    name: 'outline',
    type: 'boolean',
    required: false,
    default: false,
    description: 'print the headings with the length of their sections, in characters',
  },
  section: {
    name: 'section',
    type: 'string',
    required: false,
    description: 'print the section with this heading, and its subsections',
  },
  find: { name: 'find', type: 'string', required: false, description: 'print the passages with these words' },
  offset: { name: 'offset', type: 'integer', required: false, default: 0, description: 'first character to print' },
  max_chars: {
    name: 'max_chars',
    type: 'integer',
    required: false,
    description: 'maximum number of characters to print',
  },
} as const satisfies Record<string, Param>

export const command: TerminalCommand = {
  cli: 'read <url|file>',
  summary: 'Print the text of a page or file',
  example: [
    'bax read https://example.com',
    'bax read https://example.com --outline',
    "bax read https://example.com --section 'Install'",
    "bax read report.pdf --find 'net income'",
  ],
  async run(invocation) {
    const fields = scrapeFields(invocation.manifest).filter(({ name }) => !notFlags.has(name))
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.argument('<url|file>', 'page to read, or a file: Markdown, text, HTML, PDF, Office; - for standard input')
      for (const param of Object.values(params)) addParam(command, param)
      for (const param of fields) addParam(command, param)
      addIdentityFlags(command)
      addProxyFlag(command)
      addSessionFlag(command)
    })
    const { io, settings } = context
    const { outline, section, find, offset, max_chars: maxChars = Infinity } = readParams(params, typed.flags, io.cwd)
    if (outline && find !== undefined) throw new BaxError('invalid_request', '--outline cannot be combined with --find')
    if (offset < 0 || maxChars < 1)
      throw new BaxError('invalid_request', '--offset must be 0 or more, and --max-chars 1 or more')
    const word = requiredWord(typed.words, 0)
    const options = uncheckedFields(
      Object.fromEntries(fields.map((param) => [param.name, flagValue(param, typed.flags, io.cwd)])),
    )
    const source = await (isFile(context, word) ? readFileSource : readPageSource)(context, word, {
      options,
      flags: typed.flags,
    })
    const { metadata, warning, warning_code } = source
    const part = selectPart(source.markdown, { outline, section, find, offset, maxChars })
    const warnings = { ...(warning && { warning }), ...(warning_code && { warning_code }) }
    if (settings.json) print(io, JSON.stringify({ success: true, data: { ...part.fields, metadata }, ...warnings }))
    else {
      io.stdout.write(part.text)
      await showWarning(io, warnings)
    }
    if (part.note !== undefined) note(io, part.note)
    return part.isMissing ? exits.failed : exits.done
  },
}

/** The tool that runs JavaScript whose functions are the commands and operations. */
import { z } from 'zod'
import type { Operation } from '../../core/operation/operation.ts'
import { limits } from '../../core/limits/limits.ts'
import { codeInput } from '../../core/shapes/jobs/code.ts'
import { codeFunctions, type CodeFunction } from '../../operations/code-functions.ts'
import { operations } from '../../operations/index.ts'
import type { Connection } from '../connection.ts'
import { defineTool, groupOf } from '../tool.ts'
import { session } from './browser.ts'

export const browserCode = defineTool({
  name: 'browser_code',
  description: `Do many steps in one call, in JavaScript: await bax.fill('#q', 'tea'); return await bax.get_title(). Also bax.scrape({url}).`,
  uses: [operations.runCode, operations.createSession],
  effect: 'destroy',
  input: z.object({ code: codeInput.shape.code.describe(''), session }),
  async run({ connection, signal }, { code, session: name }) {
    const session_id = await connection.openSession(name)
    const functions = functionsOf(connection)
    const input = { code, session_id, functions, max_output_chars: limits.observe.chars, ...connection.cause }
    const { success, result, output, code: failure, message, hint } = await connection.ask('runCode', input, signal)
    const own = hint?.includes('bax ') ? undefined : hint
    const value = result === null ? '' : typeof result === 'string' ? result : JSON.stringify(result)
    return {
      ...(!success && { text: [`failed [${failure}]`, ...(own ? [`hint: ${own}`] : [])].join('\n') }),
      // Messages may contain text of the page.
      page: [output.trimEnd(), success ? value : message].filter(Boolean).join('\n'),
      failed: !success,
    }
  },
})

/** Operations that are functions, besides commands: those that read sites and the page. */
const { scrape, crawl, getCrawl, map, search, observe } = operations
const offered: ReadonlySet<Operation> = new Set<Operation>([scrape, crawl, getCrawl, map, search, observe])

/** Returns the functions that the options of the server allow. */
function functionsOf({ manifest, options }: Connection): string[] {
  const { families, groups, confirm, allowedDomains } = options
  const familyOf = new Map(manifest.commands.map(({ name, family }) => [name, family]))
  const isAllowed = (one: CodeFunction): boolean => {
    if ('operation' in one)
      // The allowed domains and approvals are those of the session.
      return (
        !confirm && !allowedDomains && offered.has(one.operation) && groups.includes(groupOf({ uses: [one.operation] }))
      )
    const { localFiles, data } = one.command
    const usesFiles = localFiles !== undefined || Object.hasOwn(data.shape, 'path')
    return families.has(familyOf.get(one.name)!) && !usesFiles
  }
  return [...codeFunctions.values()].filter(isAllowed).map(({ name }) => name)
}

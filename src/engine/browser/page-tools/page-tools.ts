/** Tools that the documents of a page offer (WebMCP): all that they return is text of the page. */
import type { Page } from 'playwright'
import type { PageTool, PageToolCall, PageToolResult, PageTools } from '../../../core/operation/page-tools.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { didYouMean } from '../../../core/errors/suggest.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { PausableTimeout } from '../../../core/process/pausable-timeout.ts'
import { approveOnPage } from '../approvals/approve-on-page.ts'
import { listWorlds, type World } from '../observe/worlds.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import { shownUrl } from '../tabs/page-events.ts'
import { invoke } from './invoke.ts'
import { resultOf } from './result.ts'
import type { DocumentTool, DocumentTools } from './tools.page.ts'
import toolsScript from './tools.page.ts?inline'

interface PageToolsFacts {
  readonly page: Page
  readonly target: BatchTarget
  readonly signal: AbortSignal
  /** Clock of the command, which stops while a person is asked. */
  readonly clock: PausableTimeout
  /** Returns where a value does not fit a JSON schema. @throws BaxError for an invalid schema */
  readonly schemaErrors: (schema: Readonly<Record<string, unknown>>, value: unknown) => Promise<string[]>
}

interface FoundTool {
  readonly tool: PageTool
  readonly world: World
  /** URL of the document. */
  readonly url: string
}

export const pageToolsOf = (facts: PageToolsFacts): PageTools => ({
  list: async () => (await findTools(facts.page)).map(({ tool }) => tool),
  call: (call) => callTool(facts, call),
})

async function callTool(facts: PageToolsFacts, call: PageToolCall): Promise<PageToolResult> {
  const { page, signal } = facts
  const found = toolFor(call, await findTools(page))
  const unchecked = await checkArguments(found.tool, call, facts)
  await untilApproved(found, call, facts)
  const ending = await invoke(page, found.world, { ...call, signal })
  return { ...resultOf(ending, call), ...(unchecked !== undefined && { unchecked }) }
}

/** Lists the tools of all documents, the main document's first. @throws BaxError `unsupported` */
async function findTools(page: Page): Promise<FoundTool[]> {
  const { textChars, schemaChars } = limits.pageTools
  const worlds = await listWorlds(page)
  const [main, ...others] = await Promise.all(
    worlds.map(async (world) => {
      const listed = await world.call<DocumentTools>(toolsScript, 'listTools', { textChars, schemaChars })
      return { ...listed, world, url: shownUrl(listed.url).slice(0, limits.pageTools.frameChars) }
    }),
  )
  if (main?.isSupported === false)
    throw new BaxError('unsupported', 'the browser of this session has no tools of pages (WebMCP)', {
      hint: 'use a session without stealth, or set BAX_WEBMCP=on where the engine starts; older versions of Chromium have none',
    })
  // The order of the browser may change.
  const placed = others.toSorted((a, b) => order(a.url, b.url) || order(a.world.frame, b.world.frame))
  const documents = placed.map((document, at) => {
    const earlier = placed.slice(0, at).filter(({ url }) => url === document.url).length
    return { ...document, frame: earlier === 0 ? document.url : `${document.url} (${earlier + 1})` }
  })
  const all = [...(main ? [{ ...main, frame: null }] : []), ...documents]
  return all.flatMap(({ tools, frame, world, url }) => tools.map((tool) => ({ tool: shown(tool, frame), world, url })))
}

const order = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

const shown = (tool: DocumentTool, frame: string | null): PageTool => ({
  name: tool.name,
  ...(tool.title !== undefined && { title: tool.title }),
  description: tool.description,
  input_schema: tool.schema === undefined ? null : JSON.parse(tool.schema),
  ...(tool.schemaChars !== undefined && { schema_chars: tool.schemaChars }),
  read_only: tool.readOnly,
  consequential: tool.consequential,
  untrusted_content: tool.untrustedContent,
  frame,
})

/** @throws BaxError `tool_not_found`, also for a name that several frames have */
function toolFor({ name, frame }: PageToolCall, all: readonly FoundTool[]): FoundTool {
  const named = all.filter(({ tool }) => tool.name === name && (frame === undefined || tool.frame === frame))
  const own = named.find(({ tool }) => tool.frame === null)
  const found = own ?? named[0]
  if (!found) {
    const names = [...new Set(all.map(({ tool }) => tool.name))]
    const place = frame === undefined ? '' : ` in the frame ${frame}`
    throw new BaxError('tool_not_found', `the page has no tool "${name}"${place}${didYouMean(name, names)}`, {
      hint: 'run "webmcp list" for the tools of the page',
      details: { tools: names.slice(0, limits.pageTools.observed) },
    })
  }
  if (!own && named.length > 1) {
    const frames = named.map(({ tool }) => tool.frame)
    throw new BaxError('tool_not_found', `${named.length} frames have a tool "${name}"`, {
      hint: 'name one of them with frame',
      details: { frames },
    })
  }
  return found
}

/** Returns why the arguments cannot be checked; undefined when they fit. @throws BaxError `invalid_data` */
async function checkArguments(
  { input_schema: schema, schema_chars: tooLong, name }: PageTool,
  { arguments: given }: PageToolCall,
  { schemaErrors }: PageToolsFacts,
): Promise<string | undefined> {
  if (tooLong !== undefined) return 'the schema of the tool is too long'
  if (!schema) return undefined
  let errors: string[]
  try {
    errors = await schemaErrors(schema, given)
  } catch (error) {
    // The page's own fault: its tool may work nevertheless.
    if (error instanceof BaxError && error.code === 'invalid_request') return `of the tool: ${error.message}`
    throw error
  }
  if (errors.length === 0) return undefined
  throw new BaxError('invalid_data', `the arguments do not fit the tool "${name}": ${errors.join('; ')}`, {
    hint: 'run "webmcp list" for its schema',
    details: { errors },
  })
}

/** Waits for the approval of a call that needs one. @throws BaxError: the tool must not be called then. */
async function untilApproved(
  { tool, url }: FoundTool,
  { name, arguments: given }: PageToolCall,
  { page, target, clock }: PageToolsFacts,
): Promise<void> {
  const { approvals } = target
  if (!approvals || !(tool.consequential || approvals.confirms('tool'))) return
  const summary = `${name} ${JSON.stringify(given)}`
  await approveOnPage({ page, approvals, clock }, { kind: 'tool', summary, url })
}

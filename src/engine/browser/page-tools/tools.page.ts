/** Runs in Playwright's isolated world of a document, hidden from the page: lists and calls the tools of the page. */
import { modelContext, ownTools, type RegisteredTool } from '../observe/snapshot/tool-names.page.ts'

/** A tool as the document describes it. */
export interface DocumentTool {
  readonly name: string
  readonly title?: string
  readonly description: string
  /** As JSON; undefined without one, or when it is too long. */
  readonly schema?: string
  readonly schemaChars?: number
  readonly readOnly: boolean
  readonly consequential: boolean
  readonly untrustedContent: boolean
}

export interface DocumentTools {
  readonly url: string
  /** False where the browser offers no tools to documents that could have some. */
  readonly isSupported: boolean
  readonly tools: readonly DocumentTool[]
}

/** Lists the tools; longer texts are cut. */
export async function listTools(most: { textChars: number; schemaChars: number }): Promise<DocumentTools> {
  const isSupported = modelContext() !== undefined || !isSecureContext
  return { url: location.href, isSupported, tools: (await ownTools()).map((tool) => described(tool, most)) }
}

function described(
  { name, title, description = '', inputSchema, annotations = {} }: RegisteredTool,
  { textChars, schemaChars }: { textChars: number; schemaChars: number },
): DocumentTool {
  const schema = inputSchema === undefined ? undefined : JSON.stringify(inputSchema)
  const isLong = schema !== undefined && schema.length > schemaChars
  return {
    name,
    ...(title && { title: cut(title, textChars) }),
    description: cut(description, textChars),
    ...(isLong ? { schemaChars: schema.length } : schema !== undefined && { schema }),
    readOnly: annotations.readOnlyHint === true,
    consequential: annotations.consequentialHint === true,
    untrustedContent: annotations.untrustedContentHint === true,
  }
}

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}… (${text.length - most} more characters)` : text

export type Ending =
  | { readonly kind: 'missing' | 'form_filled' | 'late' }
  | { readonly kind: 'failed'; readonly message: string }
  /** `json` is null when the document is being left; it is cut if `chars` is larger. */
  | { readonly kind: 'answered'; readonly json: string | null; readonly chars: number }

export interface ToolInput {
  readonly name: string
  readonly input: unknown
  readonly timeoutMs: number
  readonly maxChars: number
}

/** Calls a tool. */
export async function callTool({ name, input, timeoutMs, maxChars }: ToolInput): Promise<Ending> {
  const tool = (await ownTools()).find((each) => each.name === name)
  if (!tool) return { kind: 'missing' }
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), timeoutMs)
  const filled = untilFilled(name)
  try {
    const answer = modelContext()!.executeTool(tool, input, { signal: late.signal })
    const json = await Promise.race([answer, filled.promise])
    if (json === filled.token) return { kind: 'form_filled' }
    return { kind: 'answered', json: json?.slice(0, maxChars) ?? null, chars: json?.length ?? 0 }
  } catch (error) {
    return late.signal.aborted ? { kind: 'late' } : { kind: 'failed', message: String(error) }
  } finally {
    clearTimeout(timer)
    filled.release()
  }
}

/** Resolves when the tool of a form that a person submits has filled it in: it answers only after that. */
function untilFilled(name: string) {
  const token = Symbol('filled') as unknown as string
  const context = modelContext()!
  const form = [...document.forms].find((each) => each.getAttribute('toolname') === name)
  const isManual = form !== undefined && !form.hasAttribute('toolautosubmit')
  let resolve: (filled: string) => void
  const promise = new Promise<string>((resolved) => (resolve = resolved))
  const onActivated = (event: Event & { toolName?: string }) => {
    if (isManual && event.toolName === name) resolve(token)
  }
  context.addEventListener('toolactivated', onActivated)
  return { token, promise, release: () => context.removeEventListener('toolactivated', onActivated) }
}

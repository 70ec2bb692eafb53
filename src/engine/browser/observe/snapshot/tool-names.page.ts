/** Runs in Playwright's isolated world, hidden from the page: finds the tools that the document offers (WebMCP). */

export interface RegisteredTool {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema?: unknown
  readonly annotations?: Readonly<
    Partial<Record<'readOnlyHint' | 'consequentialHint' | 'untrustedContentHint', boolean>>
  >
  readonly window: Window
}

export interface ModelContext extends EventTarget {
  getTools(): Promise<RegisteredTool[]>
  executeTool(tool: RegisteredTool, input: unknown, options: { signal: AbortSignal }): Promise<string | null>
}

/** Returns the tools of documents; undefined where the browser has none. */
export const modelContext = () => (document as { modelContext?: ModelContext }).modelContext

/** Returns the tools of this document, without those of others of the same origin. */
export async function ownTools(): Promise<RegisteredTool[]> {
  try {
    return ((await modelContext()?.getTools()) ?? []).filter(({ window: owner }) => owner === window)
  } catch (error) {
    // The page allows no tools in this frame.
    if (error instanceof DOMException && error.name === 'NotAllowedError') return []
    throw error
  }
}

const key = Symbol.for('bax.tools')
const registry = globalThis as { [key]?: Promise<string[]> | undefined }

/** Begins to find the names of the tools, which takes as long as a snapshot at most. */
export function findToolNames(): void {
  registry[key] = modelContext() && ownTools().then((tools) => tools.map(({ name }) => name))
  // Reported by `foundToolNames`.
  registry[key]?.catch(() => {})
}

/** Returns the names that `findToolNames` has found. */
export async function foundToolNames(): Promise<string[]> {
  const names = await registry[key]
  delete registry[key]
  return names ?? []
}

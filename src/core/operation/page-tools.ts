/** Tools that the documents of a page register with `document.modelContext` (WebMCP), as commands use them. */

/** A tool as its page describes it: all of it is text of the page. */
export interface PageTool {
  readonly name: string
  readonly title?: string
  readonly description: string
  /** JSON schema of the arguments; null without one, or when it is too long. */
  readonly input_schema: Readonly<Record<string, unknown>> | null
  /** Length of a schema that is too long, as JSON. */
  readonly schema_chars?: number
  readonly read_only: boolean
  readonly consequential: boolean
  readonly untrusted_content: boolean
  /** URL of the frame whose document has it; null for the main document. */
  readonly frame: string | null
}

export interface PageToolCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** As in the list; missing for the main document, or the only frame with such a tool. */
  readonly frame?: string | undefined
  readonly timeoutMs: number
  /** Maximum characters of the result. */
  readonly maxChars: number
}

export interface PageToolResult {
  readonly ended: 'answered' | 'form_filled' | 'page_left'
  readonly text: string
  /** The result; missing when it has no more than the text, or was cut. */
  readonly value?: unknown
  readonly omitted_chars?: number
  /** Why the arguments were not checked. */
  readonly unchecked?: string
}

export interface PageTools {
  /** @throws BaxError `unsupported` where the browser has no such tools */
  list(): Promise<PageTool[]>
  /** @throws BaxError `tool_not_found`, `invalid_data`, `tool_failed`, `timeout`, or that of an approval */
  call(call: PageToolCall): Promise<PageToolResult>
}

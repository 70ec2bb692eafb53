/** Tools that the documents of a page register with `document.modelContext` (WebMCP), as commands use them. */
import { z } from 'zod'
import { named } from '../shapes/fields.ts'

/** A tool as its page describes it: all of it is text of the page. */
export const pageTool = named('PageTool', {
  name: z.string(),
  title: z.string().optional(),
  description: z.string(),
  input_schema: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('JSON schema of the arguments; null without one, or when it is too long'),
  schema_chars: z.int().optional().describe('Length of a schema that is too long'),
  read_only: z.boolean().describe('Whether the page says that it changes nothing'),
  consequential: z.boolean().describe('Whether the page says that it does something such as placing an order'),
  untrusted_content: z.boolean().describe('Whether the page says that results contain texts of others'),
  frame: z.string().nullable().describe('URL of the frame that offers it; null for the main document'),
})
export type PageTool = z.output<typeof pageTool>

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

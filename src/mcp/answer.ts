/** Content of responses: text of bax, text of pages between markers, images, and data. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { BaxError } from '../core/errors/errors.ts'
import { enclosed } from '../core/text/boundaries.ts'
import type { StoredItem } from './stored.ts'
import type { ToolAnswer } from './tool.ts'

/** Builds the result of a tool. `embeds` returns the content of resources that the client could not read later. */
export function resultOf(
  answer: ToolAnswer,
  boundaries: boolean,
  embeds: (uri: string) => StoredItem | undefined = () => undefined,
): CallToolResult {
  const { text, page, image, links = [], data, failed } = answer
  const parts = [text, page && (boundaries ? enclosed(page) : page)].filter((part) => part !== undefined && part !== '')
  return {
    content: [
      ...(parts.length > 0 ? [{ type: 'text' as const, text: parts.join('\n') }] : []),
      ...(image ? [{ type: 'image' as const, ...image }] : []),
      ...links.map((link) => {
        const content = embeds(link.uri)
        if (!content) return { type: 'resource_link' as const, ...link }
        const { mimeType, data: blob } = content
        return { type: 'resource' as const, resource: { uri: link.uri, mimeType, blob } }
      }),
    ],
    ...(data && !failed && { structuredContent: data }),
    ...(failed && { isError: true }),
  }
}

/** Hints that name commands of the terminal, which an agent does not have. */
const ofTerminal = /\bbax \w|(?<![\w-])--?\w/

/** Returns the line of a hint, without the flags of fields, as in `"limit" (--limit)`. */
export function hintOf(hint: string | undefined): string[] {
  const own = hint?.replaceAll(/ \(--[\w-]+\)/g, '')
  return own && !ofTerminal.test(own) ? [`hint: ${own}`] : []
}

/** Builds the result of a failed call. */
export function failureOf(error: BaxError, boundaries: boolean): CallToolResult {
  const { code, message, hint } = error
  const isOfPage = 'isOfPage' in error
  const lines = [isOfPage ? `failed [${code}]` : `${message} [${code}]`, ...hintOf(hint)]
  return resultOf({ text: lines.join('\n'), ...(isOfPage && { page: message }), failed: true }, boundaries)
}

/** Results of tools of pages. */
import type { PageToolCall, PageToolResult } from '../../../core/operation/page-tools.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { isMapping } from '../../../core/text/is-mapping.ts'
import type { CallEnding } from './invoke.ts'

/** Returns the result of a call. @throws BaxError `tool_failed`, `tool_not_found`, `timeout` */
export function resultOf(ending: CallEnding, { name, timeoutMs, maxChars }: PageToolCall): PageToolResult {
  switch (ending.kind) {
    case 'page_left':
      return { ended: 'page_left', text: 'the page was left before the tool answered' }
    case 'form_filled':
      return { ended: 'form_filled', text: 'the form is filled in: submit it to continue' }
    case 'missing':
      throw new BaxError('tool_not_found', `the page has removed the tool "${name}"`)
    case 'late':
      throw new BaxError('timeout', `the tool "${name}" did not answer within ${timeoutMs} ms`)
    case 'failed':
      throw failed(name, ending.message)
    case 'answered': {
      const { json, chars } = ending
      if (json === null || json === 'undefined') return { ended: 'answered', text: '' }
      if (chars > maxChars) return { ended: 'answered', text: json, omitted_chars: chars - maxChars }
      const value = parsed(json)
      const text = textOf(value)
      if (isMapping(value) && value['isError'] === true) throw failed(name, text)
      return { ended: 'answered', text, ...(value !== text && { value }) }
    }
  }
}

const failed = (name: string, message: string): BaxError =>
  new BaxError('tool_failed', `the tool "${name}" failed: ${message}`, { details: { tool: name } })

/** Returns a value; texts arrive without quotes. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

/** Returns the text of a result; that of results as in MCP, `{content: [{type: 'text', text}]}`, without the frame. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  const parts = isMapping(value) ? value['content'] : undefined
  const isText = (part: unknown): part is { text: string } => isMapping(part) && typeof part['text'] === 'string'
  if (Array.isArray(parts) && parts.length > 0 && parts.every(isText)) return parts.map(({ text }) => text).join('\n')
  return JSON.stringify(value, null, 2)
}

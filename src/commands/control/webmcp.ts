/** Commands for tools that the page itself offers (WebMCP). */
import { z } from 'zod'
import { defineCommand, extracted } from '../../core/operation/command.ts'
import { limits } from '../../core/limits/limits.ts'
import { integer } from '../../core/shapes/fields.ts'
import { pageTool } from '../../core/operation/page-tools.ts'
import { extraction, timeoutMs } from '../fields.ts'

const { nameChars, frameChars, defaultChars } = limits.pageTools

const frame = z.string().min(1).max(frameChars)

export const list_page_tools = defineCommand({
  kind: 'extraction',
  summary: 'List the tools that the page offers',
  also: ['webmcp list'],
  example: '',
  data: z.object({}),
  table: { columns: ['name', 'description', 'frame'] },
  result: extraction(z.array(pageTool), ['array']).describe('Names, descriptions and schemas are texts of the page'),
  run: async ({ pageTools }) => extracted(await pageTools.list()),
})

export const call_page_tool = defineCommand({
  kind: 'action',
  summary: 'Call a tool that the page offers',
  also: ['webmcp call'],
  positional: [['name', 'arguments'], ['name']],
  example: [`search '{"words": "green tea"}'`, 'clear-cart'],
  data: z.object({
    name: z.string().min(1).max(nameChars).describe('Name of the tool'),
    arguments: z
      .record(z.string(), z.unknown())
      .refine((given) => JSON.stringify(given).length <= limits.input.typedChars, 'is too long')
      .default({})
      .describe("Arguments, which fit the tool's schema"),
    frame: frame.optional().describe('Frame of the tool, as listed; needed when several frames have such a tool'),
    timeout_ms: timeoutMs
      .min(1)
      .optional()
      .describe(`Timeout in milliseconds, ${limits.command.evaluateMs} when omitted; the page is told to stop`),
    max_chars: integer(1, limits.observe.maxChars)
      .default(defaultChars)
      .describe('Maximum length of the result, which is cut'),
  }),
  prints: 'text',
  result: z.object({
    ended: z
      .enum(['answered', 'form_filled', 'page_left'])
      .describe(
        'form_filled: the tool has filled in its form, which waits to be submitted; page_left: the tool ran, and the ' +
          'page was left before it answered',
      ),
    text: z.string().describe('Result as text of the page'),
    value: z.unknown().optional().describe('Result, unless it is no more than the text'),
    omitted_chars: z.int().optional().describe('Number of characters beyond max_chars'),
    unchecked: z.string().optional().describe('Why the arguments were not compared with the schema'),
  }),
  run: async ({ pageTools }, { timeout_ms = limits.command.evaluateMs, max_chars, ...call }) => ({
    data: { ...(await pageTools.call({ ...call, timeoutMs: timeout_ms, maxChars: max_chars })) },
  }),
})

/** Commands that print. */
import { z } from 'zod'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { defineCommand } from '../../core/operation/command.ts'
import { flag, number } from '../../core/shapes/fields.ts'
import { resultPath, savedPath } from '../fields.ts'

const papers = ['Letter', 'Legal', 'Tabloid', 'Ledger', 'A0', 'A1', 'A2', 'A3', 'A4', 'A5', 'A6'] as const

const length = String.raw`\d{1,4}(?:\.\d{1,3})?(?:px|in|cm|mm)?`

const template = z.string().max(limits.input.templateChars).optional()

export const print_to_pdf = defineCommand({
  kind: 'extraction',
  summary: 'Print the page to PDF',
  also: ['pdf'],
  example: ['page.pdf', '--paper A4 --background -o page.pdf'],
  positional: [['path'], []],
  data: z.object({
    path: resultPath,
    paper: z.enum(papers).default('A4').describe('Size of the paper'),
    landscape: flag('Print in landscape'),
    margin: z
      .string()
      .max(100, { abort: true })
      .regex(new RegExp(`^${length}(?: ${length}){0,3}$`), 'must be 1 to 4 lengths such as "1cm" or "10mm 20mm"')
      .default('1cm')
      .describe('Margins in px, in, cm or mm: one for all sides, or top, right, bottom and left as in CSS'),
    background: flag('Print background colors and images'),
    scale: number(0.1, 2).default(1).describe('Scale of the content'),
    pages: z
      .string()
      .max(200, { abort: true })
      .regex(/^\s*\d{1,5}(?:\s*-\s*\d{1,5})?(?:\s*,\s*\d{1,5}(?:\s*-\s*\d{1,5})?)*\s*$/, 'must be such as "1-3, 5"')
      .optional()
      .describe('Pages to print, such as 1-3,5; all when omitted'),
    header: template.describe(
      'HTML above each page; elements of the classes date, title, url, pageNumber and totalPages are filled in',
    ),
    footer: template.describe('HTML below each page, like header'),
    css_page_size: flag('Use the size that the page sets with @page instead of paper'),
  }),
  bytes: 'pdf',
  result: z.object({ pdf: z.string().describe('PDF, base64'), path: savedPath }),
  maxDurationMs: limits.command.pdfMs,
  run: async (
    { page, save },
    { path, paper, header, footer, pages, css_page_size, background, margin, ...options },
  ) => {
    const print = page.pdf({
      ...options,
      format: paper,
      margin: sides(margin),
      printBackground: background,
      preferCSSPageSize: css_page_size,
      ...(pages !== undefined && { pageRanges: pages }),
      ...((header !== undefined || footer !== undefined) && {
        displayHeaderFooter: true,
        // The browser has templates of its own for those that are missing.
        headerTemplate: header ?? '<span></span>',
        footerTemplate: footer ?? '<span></span>',
      }),
    })
    const bytes = await print.catch((cause: unknown) => {
      throw printError(cause)
    })
    const saved = path === undefined ? undefined : await save(path, bytes, 'pdf')
    return {
      content_type: 'application/pdf',
      data: { pdf: bytes.toString('base64'), ...(saved !== undefined && { path: saved }) },
    }
  },
})

/** Returns the margins of all sides, with missing ones as in CSS. */
function sides(margin: string) {
  const [top, right = top, bottom = top, left = right] = margin.split(' ')
  return { top: top!, right: right!, bottom: bottom!, left: left! }
}

function printError(cause: unknown): unknown {
  const message = cause instanceof Error ? cause.message : ''
  if (/page range/i.test(message)) return new BaxError('invalid_data', 'pages names no page of the document', { cause })
  if (!/not implemented|only supported in/i.test(message)) return cause
  return new BaxError('unsupported', 'this browser cannot print to PDF', { hint: 'use a headless session', cause })
}

/** Conversion of uploaded files, in the format of Firecrawl's second API. */
import { z } from 'zod'
import { BaxError } from '../../core/errors/errors.ts'
import { type IdentityName, identityNames, noIdentity } from '../../core/identity.ts'
import { limits } from '../../core/limits/limits.ts'
import { withWrittenNames } from '../../core/operation/input/given-fields.ts'
import { defineUpload } from '../../core/operation/operation.ts'
import { validateInput } from '../../core/operation/input/valid-input.ts'
import { documentOf } from '../../core/shapes/jobs/document-v2.ts'
import { type ScrapeInput, scrapeInput } from '../../core/shapes/scrape.ts'
import { scrapeAnswerV2 } from '../../core/shapes/v2.ts'
import { scrape } from '../scrape.ts'
import { formBytes, readForm } from './form.ts'

/** Limits of the form; clients send few fields beside the file. */
const formLimits = { fileBytes: limits.scrape.bodyBytes, fieldBytes: 256 * 1024, parts: 20 }

const identity = Object.fromEntries([...identityNames, 'session_id'].map((name) => [name, true])) as Record<
  IdentityName | 'session_id',
  true
>

/** A file has no identity: its fields are reported as unknown. */
const fileOptions = scrapeInput.omit(identity)

export const parseV2 = defineUpload({
  summary: 'Convert an uploaded document (Firecrawl v2 format)',
  description:
    'The body is a form (multipart/form-data) with `file` and, as JSON, `options`: formats, only_main_content, timeout and ' +
    'the other scrape options that need no browser. Converts PDF, docx, xlsx, pptx, odt, epub, RTF, HTML, CSV, JSON and text.',
  http: 'POST /v2/parse',
  scope: scrape.scope,
  runs: { on: 'any', label: 'render' },
  input: z.object({}),
  bodyBytes: formBytes(formLimits),
  output: scrapeAnswerV2,
  errors: [
    'unsupported_media_type',
    'unsupported_content_type',
    'content_too_large',
    'payload_too_large',
    'model_not_configured',
    'timeout',
  ],
  receive: async (engine, _input, body, call) => {
    const { file, fields } = await readForm(body, call.contentType ?? '', formLimits)
    if (!file) throw missing('file', 'is required: a file')
    const options = parsed(fields.get('options') ?? '{}')
    const url = `https://upload.invalid/${encodeURIComponent(file.name)}`
    const { input, warning } = validateInput(fileOptions, { ...options, url }, false)
    const whole = { ...noIdentity, ...input } as ScrapeInput
    const answer = await withWrittenNames(input, () => engine.extractor.parse(file, whole, call))
    const warnings = [answer.warning, warning].filter(Boolean).join('; ')
    const { data, ...facts } = answer
    const noted = warnings ? { warning: warnings } : {}
    return { ...facts, ...noted, ...(data && { data: { ...documentOf(data), ...noted } }) }
  },
})

function parsed(options: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(options) ?? {}
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Reported below.
  }
  throw missing('options', 'must be a JSON object')
}

const missing = (path: string, message: string): BaxError =>
  new BaxError('invalid_request', `${path} ${message}`, { details: [{ path, message }] })

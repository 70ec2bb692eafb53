/** Extracts structured data from the live page. */
import type { Page } from 'playwright'
import type { StructuredRequest } from '../../core/operation/command.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { LanguageModel } from '../language/model.ts'
import { readPage } from './page-reader.ts'
import { structuredOf, type StructuredResult } from './structured.ts'
import type { ElementNode } from './tree.ts'

/**
 * Extracts structured data from the rendered page, frames and shadow trees included.
 * @throws BaxError `invalid_request` for an invalid schema; `timeout`, `model_failed`.
 */
export async function extractStructured(
  page: Page,
  request: StructuredRequest,
  model?: LanguageModel,
): Promise<StructuredResult> {
  const content = await readPage(page, undefined, (module, { frames }) =>
    module.evaluate((reader, inner) => reader.snapshot(inner), frames),
  )
  let root: ElementNode
  try {
    root = JSON.parse(content) as ElementNode
  } catch (cause) {
    // A page may replace built-in objects, JSON included.
    throw new BaxError('evaluate_failed', 'the page cannot be read', { cause })
  }
  return structuredOf({ root, baseUrl: page.url() }, request, model)
}

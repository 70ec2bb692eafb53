/** Extracts structured data from the live page. */
import type { Page } from 'playwright'
import type { StructuredRequest } from '../../core/operation/command.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { LanguageModel } from '../language/model.ts'
import { snapshotOf } from './page-reader.ts'
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
  const missing: string[] = []
  const content = await snapshotOf(page, (text) => missing.push(text))
  let root: ElementNode
  try {
    root = JSON.parse(content) as ElementNode
  } catch (cause) {
    // A page may replace built-in objects, JSON included.
    throw new BaxError('evaluate_failed', 'the page cannot be read', { cause })
  }
  const result = await structuredOf({ root, baseUrl: page.url() }, request, model)
  return { ...result, warnings: [...missing, ...result.warnings] }
}

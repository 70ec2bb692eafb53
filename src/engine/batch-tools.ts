/** What the engine lends to commands beside the browser. */
import type { EngineConfig } from '../core/config.ts'
import { BaxError } from '../core/errors.ts'
import type { BatchTools } from './browser/run-batch.ts'

export function makeBatchTools(_config: EngineConfig): BatchTools {
  const missing = () => new BaxError('feature_disabled', 'the extractor is not part of this build')
  return {
    markdown: async (page, element) => (await import('./extract/page-markdown.ts')).markdownOf(page, element),
    structured: () => Promise.reject(missing()),
  }
}

/** Tools of the engine that commands use besides the browser; loaded when a command first needs them. */
import type { EngineConfig } from '../core/config/config.ts'
import type { BatchTools } from './browser/batch/run-batch.ts'
import type { LanguageModel } from './language/model.ts'

export function makeBatchTools({ model: settings, proxies }: Pick<EngineConfig, 'model' | 'proxies'>): BatchTools {
  let model: LanguageModel | undefined
  return {
    schemaErrors: async (schema, value) => {
      const { checkFor } = await import('./extract/structured/validate.ts')
      return checkFor(schema, 'schema', { nullIsMissing: false })(value).map(({ message }) => message)
    },
    markdown: async (page, warn, element) => (await import('./extract/page-reader.ts')).markdownOf(page, warn, element),
    structured: async (page, request) => {
      const { extractStructured } = await import('./extract/page-structured.ts')
      if (settings) model ??= new (await import('./language/openai-compatible.ts')).OpenAiCompatible(settings, proxies)
      return extractStructured(page, request, model)
    },
  }
}

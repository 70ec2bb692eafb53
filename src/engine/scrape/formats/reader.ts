/** Who answers questions about a page: a language model, where one is set up, and rules, where they may stand in for it. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { LanguageModel } from '../../language/model.ts'

export interface Reader {
  readonly model: LanguageModel | undefined
  /** Whether rules may answer when the model does not. */
  readonly rules: boolean
}

/** Why the model has not answered, in words for a warning. @throws what is no failure of the model, or has nobody to stand in. */
export function whyNoModel(error: unknown, { rules }: Reader): string {
  const known = error instanceof BaxError && (error.code === 'model_failed' || error.code === 'timeout')
  if (!known || !rules) throw error
  return error.hint ? `${error.message} (${error.hint})` : error.message
}

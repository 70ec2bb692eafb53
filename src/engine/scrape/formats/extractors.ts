/** The extractors of json and summary: a language model, if one is configured, and rules as its fallback. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { LanguageModel } from '../../language/model.ts'

export interface Extractors {
  readonly model: LanguageModel | undefined
  /** Whether rules are used when the model fails. */
  readonly rules: boolean
}

/** Returns the failure of the model as a warning. @throws other errors, and any error if rules are not allowed */
export function modelFailure(error: unknown, { rules }: Extractors): string {
  const isModelFailure = error instanceof BaxError && (error.code === 'model_failed' || error.code === 'timeout')
  if (!isModelFailure || !rules) throw error
  return error.hint ? `${error.message} (${error.hint})` : error.message
}

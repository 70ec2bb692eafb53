/** Settings of the language model: variables such as `BAX_MODEL`, and `model` in the user's settings file. */
import { BaxError } from '../errors/errors.ts'
import type { Environment } from './setting.ts'

export interface ModelConfig {
  readonly url: string
  readonly name: string
  readonly key?: string
}

/** Reads the settings. @throws BaxError `invalid_request` if only the URL or only the name is given */
export function readModel(env: Environment, file: Partial<ModelConfig> = {}): ModelConfig | undefined {
  const url = env['BAX_MODEL_URL'] || file.url
  const name = env['BAX_MODEL'] || file.name
  const key = env['BAX_MODEL_KEY'] || file.key
  if (!url && !name) return undefined
  if (!url || !name)
    throw new BaxError(
      'invalid_request',
      'a model needs both BAX_MODEL_URL and BAX_MODEL (model.url and model.name in the file)',
    )
  return { url, name, ...(key && { key }) }
}

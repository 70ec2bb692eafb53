/** The model that comes with bax; loaded once, when it is first needed. */
import { type Model, type ModelData, readModel } from './model.ts'

let loading: Promise<Model> | undefined

/** The shipped model. */
export const shippedModel = (): Promise<Model> =>
  (loading ??= import('./model.json', { with: { type: 'json' } }).then((module) =>
    readModel(module.default as ModelData),
  ))

/** Flags of commands that serve. */
import type { Param } from '../../core/operation/params.ts'

type Options = Partial<Omit<Param, 'name' | 'required' | 'description'>>

/** A flag with the exact type, choices and default of its options; text by default. */
type ParamWith<More extends Options> = Omit<Param, keyof More | 'type'> &
  Omit<More, 'type'> & {
    readonly type: More extends { readonly type: infer Type extends Param['type'] } ? Type : 'string'
  }

export const param = <const More extends Options = {}>(name: string, description: string, more?: More) => {
  const made: object = { name, type: 'string', required: false, description, ...more }
  return made as ParamWith<More>
}

/** Flags of commands that serve. */
import type { Param } from '../../core/operation/params.ts'

export const param = (name: string, description: string, more: Partial<Param> = {}): Param => ({
  name,
  type: 'string',
  required: false,
  description,
  ...more,
})

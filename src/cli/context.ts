/** What a command gets beside its own arguments. */
import type { Manifest, OperationEntry } from '../operations/manifest.ts'
import { BaxError } from '../core/errors/errors.ts'
import type { Io } from './io.ts'
import type { Settings } from './settings.ts'

export interface Context {
  readonly io: Io
  readonly manifest: Manifest
  readonly settings: Settings
}

/** The operation of that name; its absence is a fault of the build. */
export function operationNamed(manifest: Manifest, name: string): OperationEntry {
  const found = manifest.operations.find((operation) => operation.name === name)
  if (!found) throw new BaxError('internal_error', `the manifest has no operation ${name}`)
  return found
}

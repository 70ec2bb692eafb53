/** Context of a command: streams, manifest and settings. */
import type { Manifest, OperationEntry } from '../operations/manifest.ts'
import { BaxError } from '../core/errors/errors.ts'
import type { Io } from './io.ts'
import type { Settings } from '../core/config/settings.ts'

export interface Context {
  readonly io: Io
  readonly manifest: Manifest
  readonly settings: Settings
}

/** Returns the operation of a name. @throws BaxError `internal_error` if the build is inconsistent */
export function operationNamed(manifest: Manifest, name: string): OperationEntry {
  const found = manifest.operations.find((operation) => operation.name === name)
  if (!found) throw new BaxError('internal_error', `the manifest has no operation ${name}`)
  return found
}

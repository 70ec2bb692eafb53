/** The form of file operations. */
import type { Shells } from '../../../core/shells.ts'
import type { ContainerFiles } from '../interface.ts'

/** Runs an operation on the files of its session. */
export type FileWork<Name extends keyof Shells['files']> = (
  files: ContainerFiles,
  ...input: Parameters<Shells['files'][Name]>
) => ReturnType<Shells['files'][Name]>

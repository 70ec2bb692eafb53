/** File operations of shell sessions. */
import type { Call } from '../../../core/operation/call.ts'
import type { Caller } from '../../../core/access/caller.ts'
import type { Shells } from '../../../core/shells.ts'
import type { ContainerFiles } from '../interface.ts'
import type { ShellSession } from '../session/session.ts'
import { copyFile, deleteFile, makeFolder, moveFile } from './changes.ts'
import { openFile, readFile, receiveFile, writeFile } from './content.ts'
import { infoOf, listFolder, treeOf } from './listing.ts'
import { searchFiles } from './search.ts'

/** Returns the file operations. Each keeps its session in use; `find` throws `shell_session_not_found`. */
export function fileOperations(find: (idOrName: string, caller: Caller) => ShellSession): Shells['files'] {
  const on =
    <Input extends { session_id: string }, Output>(
      work: (files: ContainerFiles, input: Input, call: Call) => Promise<Output>,
    ) =>
    async (input: Input, call: Call): Promise<Output> =>
      find(input.session_id, call.caller).use(({ files }) => work(files, input, call))
  return {
    read: on(readFile),
    write: on(writeFile),
    list: on(listFolder),
    tree: on(treeOf),
    search: on(searchFiles),
    info: on(infoOf),
    delete: on(deleteFile),
    copy: on(copyFile),
    move: on(moveFile),
    mkdir: on(makeFolder),
    receive: async (input, body, { caller }) =>
      find(input.session_id, caller).use(({ files }) => receiveFile(files, input, body)),
    open: async (input, { caller }) => {
      const session = find(input.session_id, caller)
      return session.use(({ files }) => openFile(files, input, () => session.hold().release))
    },
  }
}

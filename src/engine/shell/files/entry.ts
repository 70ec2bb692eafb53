/** Converts facts of a file to the format of the API. */
import type { FileEntry } from '../../../core/shapes/shell/files.ts'
import { isoOf, modeOf } from '../artifacts/manifest.ts'
import type { FileFacts } from '../container-files.ts'
import { shownName, shownPath } from '../names.ts'
import { baseName } from './paths.ts'

export function entryOf(facts: FileFacts, path: Uint8Array | string): FileEntry {
  const bytes = Buffer.from(path as string)
  const { type, size, mode, uid, gid, owner, group, modifiedNs, linkTarget } = facts
  const name = baseName(bytes)
  return {
    ...shownName(name.length > 0 ? name : Buffer.from('/')),
    ...shownPath(bytes),
    type,
    size,
    mode: modeOf(mode),
    owner: owner ?? String(uid),
    group: group ?? String(gid),
    uid,
    gid,
    modified_at: isoOf(modifiedNs),
    symlink_target: linkTarget === null ? null : shownName(linkTarget).name,
  }
}

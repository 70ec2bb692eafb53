/** Lists directories of a session, flat or as a tree. */
import type { FileEntry, TreeInput, TreeNode } from '../../../core/shapes/shell/files.ts'
import { isoOf, modeOf } from '../artifacts/manifest.ts'
import type { FileFacts } from '../container-files.ts'
import type { ContainerFiles } from '../interface.ts'
import { shownName, shownPath } from '../../name-bytes.ts'
import { checksumOf } from './content.ts'
import { folderFacts, onPath } from './errors.ts'
import type { FileWork } from './file-work.ts'
import { baseName, below, type ResolvedPath, resolvePath } from './paths.ts'

export const listFolder: FileWork<'list'> = async (files, input) => {
  const target = resolvePath(input.path, input.path_b64)
  const { limit, show_hidden, cursor } = input
  const after = cursor === undefined ? {} : { after: Buffer.from(cursor, 'base64url') }
  const { entries, total, next } = await onPath(target.shown.path, () =>
    files.list(target.bytes, { limit, hidden: show_hidden, ...after }),
  )
  return {
    ...target.shown,
    entries: entries.map((facts) => entryOf(facts, below(target, facts.name))),
    total,
    truncated: next !== null,
    next_cursor: next && Buffer.from(next).toString('base64url'),
  }
}

export const infoOf: FileWork<'info'> = async (files, input) => {
  const { shown, bytes } = resolvePath(input.path, input.path_b64)
  return onPath(shown.path, async () => {
    const facts = await files.info(bytes, { follow: input.follow_symlinks })
    const entry = entryOf(facts, bytes)
    if (!input.checksum || facts.type !== 'file') return entry
    return { ...entry, sha256: await checksumOf(files, bytes) }
  })
}

export const treeOf: FileWork<'tree'> = async (files, input, { signal }) => {
  const target = resolvePath(input.path, input.path_b64)
  return onPath(target.shown.path, async () => {
    const facts = await folderFacts(files, target)
    const root: TreeNode = { ...entryOf(facts, target.bytes), children: [] }
    if (input.max_depth === 0) return { ...target.shown, root: markOmitted(root), entries: 0, truncated: true }
    const { entries, truncated } = await grow(files, target, root, input, signal)
    return { ...target.shown, root, entries, truncated }
  })
}

async function grow(
  files: ContainerFiles,
  target: ResolvedPath,
  root: TreeNode,
  input: TreeInput,
  signal: AbortSignal,
) {
  const { max_depth, max_entries, show_hidden } = input
  const folders = new Map([['', root]])
  const options = { maxDepth: max_depth, maxEntries: max_entries, hidden: show_hidden, signal }
  let entries = 0
  let truncated = false
  for await (const entry of files.walk(target.bytes, options)) {
    const key = Buffer.from(entry.path).toString('latin1')
    const parent = folders.get(key.slice(0, Math.max(0, key.lastIndexOf('/'))))!
    const node: TreeNode = entryOf(entry, below(target, entry.path))
    if (entry.type === 'directory') {
      node.children = []
      folders.set(key, node)
      if (entry.unread !== null) markOmitted(node)
    }
    parent.children!.push(node)
    entries += 1
    truncated ||= entry.cut || entry.unread === 'depth'
    // Entries may be missing in this folder and all of its parents.
    if (entry.cut)
      for (let at = key; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
        const folder = folders.get(at)
        if (folder) markOmitted(folder)
        if (at === '') break
      }
  }
  return { entries, truncated }
}

function markOmitted(node: TreeNode): TreeNode {
  node.children_omitted = true
  return node
}

/** Converts facts of a file to the format of the API. */
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

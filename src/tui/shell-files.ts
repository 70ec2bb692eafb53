/** Formats the files of a shell session for lists and the viewer. */
import type { TreeNode } from '../core/shapes/shell/files.ts'

export interface FileRow {
  readonly path: string
  readonly label: string
  readonly size: number
  readonly isFolder: boolean
}

/** Returns a row for each file below a folder, indented by its level. */
export function rowsOf(node: TreeNode, level: number): FileRow[] {
  return (node.children ?? []).flatMap((child) => {
    const isFolder = child.type === 'directory'
    const name = child.symlink_target === null ? child.name : `${child.name} -> ${child.symlink_target}`
    const row = {
      path: child.path,
      label: `${'  '.repeat(level)}${isFolder ? '▾ ' : '  '}${name}${isFolder ? '/' : ''}`,
      size: child.size,
      isFolder,
    }
    return [row, ...rowsOf(child, level + 1)]
  })
}

/** Returns a hex dump of the first 16 KiB of a binary file. */
export function dump(bytes: Buffer): string {
  const lines: string[] = []
  for (let at = 0; at < Math.min(bytes.length, 16_384); at += 16) {
    const part = bytes.subarray(at, at + 16)
    const text = [...part].map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('')
    const hex = part.toString('hex').replaceAll(/../g, '$& ').padEnd(48)
    lines.push(`${at.toString(16).padStart(8, '0')}  ${hex} ${text}`)
  }
  return lines.join('\n')
}

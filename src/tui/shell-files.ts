/** Files of a shell session as lines. */
import type { TreeNode } from '../core/shapes/shell/files.ts'

export interface FileRow {
  readonly path: string
  readonly label: string
  readonly size: number
  readonly isFolder: boolean
}

/** The files below a folder, each with its level. */
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

/** Bytes that are no text, as hexadecimal. */
export function dump(bytes: Buffer): string {
  const lines: string[] = []
  for (let at = 0; at < Math.min(bytes.length, 16_384); at += 16) {
    const part = bytes.subarray(at, at + 16)
    const signs = [...part].map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('')
    lines.push(
      `${at.toString(16).padStart(8, '0')}  ${part.toString('hex').replaceAll(/../g, '$& ').padEnd(48)} ${signs}`,
    )
  }
  return lines.join('\n')
}

import { limits } from '../../core/limits/limits.ts'
import { defineOperation } from '../../core/operation/operation.ts'
import { onShell } from '../../core/operation/placement.ts'
import * as shapes from '../../core/shapes/shell/files.ts'
import { samples } from '../samples.ts'

const always = ['session_closed', 'conflict', 'session_lost'] as const
const denied = [...always, 'file_not_found', 'not_a_directory', 'permission_denied'] as const

export const readShellFile = defineOperation({
  summary: 'Read a file of a shell session',
  description:
    'Up to 16 MiB per call; read larger files in parts (`offset`, `length`), or whole with GET /shell/fs/raw.',
  http: 'POST /shell/fs/read',
  scope: 'shell',
  runs: onShell,
  cli: 'shell read <path>',
  example: ['bax shell read -s data report.txt', 'bax shell read -s data server.log --offset 1000 --length 500'],
  sample: { ...samples.shell, path: 'report.txt' },
  input: shapes.readInput,
  output: shapes.readOutput,
  errors: [...denied, 'is_a_directory', 'not_a_file'],
  run: (engine, input, call) => engine.shells.files.read(input, call),
})

export const writeShellFile = defineOperation({
  summary: 'Write a file of a shell session',
  description:
    'Atomic: the file is written under a temporary name and renamed. When the disk is full, the old content is kept.',
  http: 'POST /shell/fs/write',
  scope: 'shell',
  runs: onShell,
  cli: 'shell write <path>',
  example: [
    'bax shell write -s data main.py < main.py',
    "bax shell write -s data notes.txt --append --content 'one more line'",
  ],
  sample: { ...samples.shell, path: 'main.py', content: 'print(6 * 7)\n' },
  input: shapes.writeInput,
  output: shapes.writeOutput,
  errors: [...denied, 'is_a_directory', 'not_a_file', 'already_exists', 'no_space'],
  bodyBytes: limits.files.bodyBytes,
  run: (engine, input, call) => engine.shells.files.write(input, call),
})

export const listShellFiles = defineOperation({
  summary: 'List a directory of a shell session',
  http: 'POST /shell/fs/list',
  scope: 'shell',
  runs: onShell,
  cli: 'shell ls [path]',
  example: ['bax shell ls -s data', 'bax shell ls -s data /output --json'],
  show: { as: 'table', items: 'entries', columns: ['mode', 'owner', 'size', 'modified_at', 'name', 'symlink_target'] },
  sample: { ...samples.shell, path: '/output' },
  input: shapes.listInput,
  output: shapes.listOutput,
  errors: denied,
  run: (engine, input, call) => engine.shells.files.list(input, call),
})

export const shellFileTree = defineOperation({
  summary: 'Show a directory of a shell session as a tree',
  http: 'POST /shell/fs/tree',
  scope: 'shell',
  runs: onShell,
  cli: 'shell tree [path]',
  example: ['bax shell tree -s data', 'bax shell tree -s data /output --max-depth 2'],
  sample: { ...samples.shell, max_depth: 2 },
  input: shapes.treeInput,
  output: shapes.treeOutput,
  errors: denied,
  run: (engine, input, call) => engine.shells.files.tree(input, call),
})

export const searchShellFiles = defineOperation({
  summary: 'Search files by name and content',
  description: 'Does not follow links or read binary files. Regular expressions use RE2: linear time, no lookaround.',
  http: 'POST /shell/fs/search',
  scope: 'shell',
  runs: onShell,
  cli: 'shell search [path]',
  example: [
    "bax shell search -s data --pattern '**/*.py'",
    'bax shell search -s data src --query TODO --no-case-sensitive',
  ],
  sample: { ...samples.shell, pattern: '**/*.py', query: 'TODO' },
  input: shapes.searchInput,
  output: shapes.searchOutput,
  errors: denied,
  run: (engine, input, call) => engine.shells.files.search(input, call),
})

export const shellFileInfo = defineOperation({
  summary: 'Show properties of a file',
  http: 'POST /shell/fs/info',
  scope: 'shell',
  runs: onShell,
  cli: 'shell info <path>',
  example: ['bax shell info -s data rows.csv', 'bax shell info -s data --checksum rows.csv'],
  show: { as: 'record' },
  sample: { ...samples.shell, path: 'data.csv', checksum: true },
  input: shapes.infoInput,
  output: shapes.fileInfo,
  errors: denied,
  run: (engine, input, call) => engine.shells.files.info(input, call),
})

export const deleteShellFile = defineOperation({
  summary: 'Delete a file or directory of a shell session',
  http: 'POST /shell/fs/delete',
  scope: 'shell',
  runs: onShell,
  cli: 'shell rm <path>',
  example: ['bax shell rm -s data draft.md', 'bax shell rm -s data --recursive --missing-ok build'],
  show: { as: 'nothing' },
  sample: { ...samples.shell, path: 'build', recursive: true },
  input: shapes.deleteInput,
  output: shapes.deleteOutput,
  errors: [...denied, 'not_empty', 'protected_path'],
  run: (engine, input, call) => engine.shells.files.delete(input, call),
})

export const copyShellFile = defineOperation({
  summary: 'Copy a file or directory of a shell session',
  http: 'POST /shell/fs/copy',
  scope: 'shell',
  runs: onShell,
  cli: 'shell cp <source> <destination>',
  example: ['bax shell cp -s data main.py backup.py', 'bax shell cp -s data --overwrite src /output/src'],
  show: { as: 'nothing' },
  sample: { ...samples.shell, source: 'main.py', destination: 'backup.py' },
  input: shapes.copyInput,
  output: shapes.copyOutput,
  errors: [...denied, 'is_a_directory', 'already_exists', 'unsupported', 'no_space'],
  run: (engine, input, call) => engine.shells.files.copy(input, call),
})

export const moveShellFile = defineOperation({
  summary: 'Move a file or directory of a shell session',
  http: 'POST /shell/fs/move',
  scope: 'shell',
  runs: onShell,
  cli: 'shell mv <source> <destination>',
  example: ['bax shell mv -s data draft.md /output/report.md', 'bax shell mv -s data --overwrite new.csv rows.csv'],
  show: { as: 'nothing' },
  sample: { ...samples.shell, source: 'draft.md', destination: '/output/report.md' },
  input: shapes.moveInput,
  output: shapes.moveOutput,
  errors: [...denied, 'already_exists', 'protected_path', 'no_space'],
  run: (engine, input, call) => engine.shells.files.move(input, call),
})

export const makeShellFolder = defineOperation({
  summary: 'Create a directory in a shell session',
  http: 'POST /shell/fs/mkdir',
  scope: 'shell',
  runs: onShell,
  cli: 'shell mkdir <path>',
  example: ['bax shell mkdir -s data input/raw', 'bax shell mkdir -s data --mode 0700 private'],
  show: { as: 'nothing' },
  sample: { ...samples.shell, path: 'data/raw' },
  input: shapes.mkdirInput,
  output: shapes.mkdirOutput,
  errors: [...denied, 'already_exists', 'no_space'],
  run: (engine, input, call) => engine.shells.files.mkdir(input, call),
})

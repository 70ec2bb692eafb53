/** Shapes of operations on the files of a shell session. */
import { z } from 'zod'
import { limits } from '../../limits/limits.ts'
import { oneOf, session } from './exec.ts'
import { flag, integer, named, withoutNul } from '../fields.ts'

const isoTime = z.iso.datetime()
const { files } = limits

/** Metadata with alternative names of a field; `core/operation/input/schema-fields.ts` reads it. */
const aliases = (...names: readonly string[]) => ({ aliases: names })

const pathText = withoutNul(z.string().min(1)).refine(
  (text) => Buffer.byteLength(text) <= files.pathBytes,
  `must have at most ${files.pathBytes} bytes`,
)
const pathBytes = z
  .base64()
  .min(1)
  .refine((text) => {
    const bytes = Buffer.from(text, 'base64')
    return bytes.length > 0 && bytes.length <= files.pathBytes && !bytes.includes(0)
  }, `must hold 1 to ${files.pathBytes} bytes and no NUL`)

export const at = {
  path: pathText.optional().describe('Absolute, or relative to /workspace'),
  path_b64: pathBytes.optional().describe('Path in base64, for names that are not UTF-8'),
}
export const onePath = oneOf('path', 'path_b64')

/** A folder, /workspace by default. */
const folder = {
  path: pathText.optional().describe('Folder, absolute or relative to /workspace; /workspace when omitted'),
  path_b64: pathBytes.optional().describe('Folder in base64, for names that are not UTF-8'),
}
const onePathAtMost = (value: Record<string, unknown>, context: z.RefinementCtx): void => {
  if (value['path'] !== undefined && value['path_b64'] !== undefined)
    context.addIssue({ code: 'custom', path: ['path_b64'], message: 'cannot be combined with path' })
}

export const mode = z
  .string()
  .regex(/^0?[0-7]{3,4}$/, 'must be an octal mode such as 0644')
  .describe('Octal permissions, e.g. 0644')
const encoding = z.enum(['utf8', 'base64'])
const showHidden = (shown: boolean) => z.boolean().default(shown).describe('Also show names that begin with a dot')

const entryTypes = ['file', 'directory', 'symlink', 'fifo', 'socket', 'device'] as const

const entry = z.object({
  name: z.string(),
  path: z.string(),
  type: z.enum(entryTypes),
  size: z.int(),
  mode: z.string(),
  owner: z.string(),
  group: z.string(),
  uid: z.int(),
  gid: z.int(),
  modified_at: isoTime,
  symlink_target: z.string().nullable(),
  name_b64: z.string().optional().describe('Name in base64, if it is not UTF-8'),
  path_b64: z.string().optional().describe('Path in base64, if it is not UTF-8'),
})
const fileEntry = entry.meta({ id: 'FileEntry' })

export const readInput = z
  .object({
    ...session,
    ...at,
    encoding: z.enum(['auto', 'utf8', 'base64']).default('auto').describe('auto: text if it is UTF-8, else base64'),
    offset: z.int().min(0).default(0).describe('First byte to read'),
    length: integer(0, files.readBytes).optional().describe('Number of bytes to read'),
  })
  .superRefine(onePath)

const pathOut = { path: z.string(), path_b64: z.string().optional().describe('Path in base64, if it is not UTF-8') }

export const readOutput = z
  .object({
    ...pathOut,
    content: z.string(),
    encoding,
    size: z.int().describe('Size of the whole file'),
    offset: z.int(),
    bytes_read: z.int(),
    eof: z.boolean(),
    modified_at: isoTime,
  })
  .meta({ id: 'FileContent' })

export const writeInput = z
  .object({
    ...session,
    ...at,
    content: z.string().describe('Content to write'),
    encoding: encoding.default('utf8').describe('Encoding of content'),
    mode: mode.optional().describe('Octal permissions; an existing file keeps its own, a new one gets 0644'),
    append: flag('Add to the end instead of replacing'),
    create_dirs: z.boolean().default(true).describe('Create missing parent folders'),
    overwrite: z.boolean().default(true).describe('Replace an existing file'),
  })
  .superRefine(onePath)

export const writeOutput = z
  .object({
    ...pathOut,
    size: z.int().describe('New size of the file'),
    bytes_written: z.int(),
    created: z.boolean(),
    mode: z.string(),
    modified_at: isoTime,
  })
  .meta({ id: 'FileWritten' })

export const listInput = z
  .object({
    ...session,
    ...folder,
    show_hidden: showHidden(true),
    limit: integer(1, files.maxListed).default(files.listed).describe('Maximum number of entries per response'),
    cursor: z.string().optional().describe('next_cursor of the previous response'),
  })
  .superRefine(onePathAtMost)

export const listOutput = z
  .object({
    ...pathOut,
    entries: z.array(fileEntry),
    total: z.int(),
    truncated: z.boolean(),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'FileList' })

export const treeInput = z
  .object({
    ...session,
    ...folder,
    max_depth: integer(0, files.maxTreeDepth).default(files.treeDepth).describe('Levels below the folder'),
    max_entries: integer(1, files.maxTreeEntries).default(files.treeEntries).describe('Maximum number of entries'),
    show_hidden: showHidden(true),
  })
  .superRefine(onePathAtMost)

const treeNode = entry
  .extend({
    get children(): z.ZodOptional<z.ZodArray<typeof treeNode>> {
      return z.array(treeNode).optional()
    },
    children_omitted: z.boolean().optional().describe('Set when the limits exclude further entries below'),
  })
  .meta({ id: 'FileNode' })

export const treeOutput = named('FileTree', { ...pathOut, root: treeNode, entries: z.int(), truncated: z.boolean() })

export const searchInput = z
  .object({
    ...session,
    ...folder,
    pattern: z.string().min(1).max(1000).optional().describe('Glob on the path below the folder, e.g. **/*.py'),
    query: z.string().min(1).max(10_000).optional().describe('Text that a line must contain'),
    regex: flag('query is a regular expression (RE2)'),
    case_sensitive: z.boolean().default(true).describe('Distinguish upper and lower case'),
    max_results: integer(1, files.maxSearchResults).default(files.searchResults).describe('Maximum matches'),
    max_file_bytes: integer(1, files.maxSearchFileBytes)
      .default(files.searchFileBytes)
      .describe('Size above which files are skipped'),
    show_hidden: showHidden(false),
  })
  .superRefine((value, context) => {
    if (value.pattern === undefined && value.query === undefined)
      context.addIssue({ code: 'custom', path: [], message: 'one of pattern, query is required' })
    onePathAtMost(value, context)
  })

export const searchOutput = z
  .object({
    ...pathOut,
    matches: z.array(
      z.object({
        ...pathOut,
        type: z.enum(entryTypes),
        size: z.int(),
        line: z.int().optional().describe('Line number from 1; only with query'),
        column: z.int().optional().describe('Column from 1, in characters; only with query'),
        text: z.string().optional().describe(`Text of the line, at most ${files.lineChars} characters`),
      }),
    ),
    truncated: z.boolean(),
    files_scanned: z.int(),
    files_skipped: z.int().describe('Number of files that are too large, binary or unreadable'),
  })
  .meta({ id: 'FileMatches' })

export const infoInput = z
  .object({
    ...session,
    ...at,
    follow_symlinks: flag('Report the target of a symbolic link'),
    checksum: flag('Include the SHA-256 of a file'),
  })
  .superRefine(onePath)

export const fileInfo = entry.extend({ sha256: z.string().optional() }).meta({ id: 'FileInfo' })

export const deleteInput = z
  .object({
    ...session,
    ...at,
    recursive: flag('Delete a folder with all its content'),
    missing_ok: flag('Ignore a missing file or folder'),
  })
  .superRefine(onePath)

export const deleteOutput = z.object({ ...pathOut, deleted: z.int().describe('Number of deleted files and folders') })

const transfer = {
  source: pathText.optional().meta(aliases('from', 'src')).describe('Absolute, or relative to /workspace'),
  source_b64: pathBytes.optional().describe('Source in base64, for names that are not UTF-8'),
  destination: pathText.optional().meta(aliases('to', 'dest')).describe('Absolute, or relative to /workspace'),
  destination_b64: pathBytes.optional().describe('Destination in base64, for names that are not UTF-8'),
  overwrite: flag('Replace an existing destination'),
}
const twoPaths = (value: Record<string, unknown>, context: z.RefinementCtx): void => {
  oneOf('source', 'source_b64')(value, context)
  oneOf('destination', 'destination_b64')(value, context)
}

export const copyInput = z
  .object({
    ...session,
    ...transfer,
    recursive: z.boolean().default(true).describe('Copy folders with all their content'),
  })
  .superRefine(twoPaths)

const transferOut = { source: z.string(), destination: z.string() }

export const copyOutput = z.object({ ...transferOut, entries: z.int(), bytes: z.int() })

export const moveInput = z.object({ ...session, ...transfer }).superRefine(twoPaths)

export const moveOutput = z.object({ ...transferOut, entry: fileEntry })

export const mkdirInput = z
  .object({
    ...session,
    ...at,
    parents: z.boolean().default(true).describe('Create missing parent folders, and accept an existing folder'),
    mode: mode.default('0755'),
  })
  .superRefine(onePath)

export const mkdirOutput = z.object({ ...pathOut, created: z.boolean() })

export type FileEntry = z.output<typeof fileEntry>
export type ReadInput = z.output<typeof readInput>
export type ReadOutput = z.output<typeof readOutput>
export type WriteInput = z.output<typeof writeInput>
export type WriteOutput = z.output<typeof writeOutput>
export type ListInput = z.output<typeof listInput>
export type ListOutput = z.output<typeof listOutput>
export type TreeInput = z.output<typeof treeInput>
export type TreeNode = z.output<typeof treeNode>
export type TreeOutput = z.output<typeof treeOutput>
export type SearchInput = z.output<typeof searchInput>
export type SearchOutput = z.output<typeof searchOutput>
export type InfoInput = z.output<typeof infoInput>
export type InfoOutput = z.output<typeof fileInfo>
export type DeleteInput = z.output<typeof deleteInput>
export type DeleteOutput = z.output<typeof deleteOutput>
export type CopyInput = z.output<typeof copyInput>
export type CopyOutput = z.output<typeof copyOutput>
export type MoveInput = z.output<typeof moveInput>
export type MoveOutput = z.output<typeof moveOutput>
export type MkdirInput = z.output<typeof mkdirInput>
export type MkdirOutput = z.output<typeof mkdirOutput>

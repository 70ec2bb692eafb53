/** Data shapes of the files in a shell session. */
import { z } from 'zod'
import { limits } from '../../limits/limits.ts'
import { oneOf } from './exec.ts'
import { identifier, withoutNul } from '../text.ts'

const isoTime = z.iso.datetime()
const { files } = limits

/** Name of a field's other spellings; `core/operation/unknown-fields.ts` reads them. */
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

export const session = {
  session_id: identifier.describe('Shell session id, or the name of a live one'),
}
export const at = {
  path: pathText.optional().describe('Absolute, or relative to /workspace'),
  path_b64: pathBytes.optional().describe('The path as base64, for names that are not UTF-8'),
}
export const onePath = oneOf('path', 'path_b64')

/** A folder; /workspace when none is given. */
const folder = {
  path: pathText.optional().describe('Folder, absolute or relative to /workspace; /workspace when not given'),
  path_b64: pathBytes.optional().describe('The folder as base64, for names that are not UTF-8'),
}
const onePathAtMost = (value: Record<string, unknown>, context: z.RefinementCtx): void => {
  if (value['path'] !== undefined && value['path_b64'] !== undefined)
    context.addIssue({ code: 'custom', path: ['path_b64'], message: 'goes without path' })
}

export const mode = z
  .string()
  .regex(/^0?[0-7]{3,4}$/, 'must be an octal mode such as 0644')
  .describe('Octal permissions, e.g. 0644')
const encoding = z.enum(['utf8', 'base64'])
const showHidden = (shown: boolean) => z.boolean().default(shown).describe('Show names that begin with a dot, too')

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
  name_b64: z.string().optional().describe('Where the name is not UTF-8'),
  path_b64: z.string().optional().describe('Where the path is not UTF-8'),
})
const fileEntry = entry.meta({ id: 'FileEntry' })

export const readInput = z
  .object({
    ...session,
    ...at,
    encoding: z.enum(['auto', 'utf8', 'base64']).default('auto').describe('auto: text where it is UTF-8, else base64'),
    offset: z.int().min(0).default(0).describe('Byte to begin with'),
    length: z.int().min(0).max(files.readBytes).optional().describe('Bytes to read'),
  })
  .superRefine(onePath)

const pathOut = { path: z.string(), path_b64: z.string().optional().describe('Where the path is not UTF-8') }

export const readOutput = z
  .object({
    ...pathOut,
    content: z.string(),
    encoding,
    size: z.int().describe('Of the whole file'),
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
    content: z.string().describe('What to write'),
    encoding: encoding.default('utf8').describe('How content is written down'),
    mode: mode.optional().describe('Octal permissions; a file that exists keeps its own, a new one has 0644'),
    append: z.boolean().default(false).describe('Add to the end instead of replacing'),
    create_dirs: z.boolean().default(true).describe('Make the folders above it'),
    overwrite: z.boolean().default(true).describe('Replace a file that exists'),
  })
  .superRefine(onePath)

export const writeOutput = z
  .object({
    ...pathOut,
    size: z.int().describe('Of the file as it is now'),
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
    limit: z.int().min(1).max(files.maxListed).default(files.listed).describe('Entries in one answer'),
    cursor: z.string().optional().describe('next_cursor of the answer before'),
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
    max_depth: z.int().min(0).max(files.maxTreeDepth).default(files.treeDepth).describe('Levels below the folder'),
    max_entries: z.int().min(1).max(files.maxTreeEntries).default(files.treeEntries).describe('Entries in all'),
    show_hidden: showHidden(true),
  })
  .superRefine(onePathAtMost)

const treeNode = entry
  .extend({
    get children(): z.ZodOptional<z.ZodArray<typeof treeNode>> {
      return z.array(treeNode).optional()
    },
    children_omitted: z.boolean().optional().describe('There are more below than the limits allow'),
  })
  .meta({ id: 'FileNode' })

export const treeOutput = z
  .object({ ...pathOut, root: treeNode, entries: z.int(), truncated: z.boolean() })
  .meta({ id: 'FileTree' })

export const searchInput = z
  .object({
    ...session,
    ...folder,
    pattern: z.string().min(1).max(1000).optional().describe('Glob on the path below the folder, e.g. **/*.py'),
    query: z.string().min(1).max(10_000).optional().describe('Text that a line must hold'),
    regex: z.boolean().default(false).describe('query is a regular expression (RE2)'),
    case_sensitive: z.boolean().default(true).describe('Tell upper case from lower case'),
    max_results: z.int().min(1).max(files.maxSearchResults).default(files.searchResults).describe('Matches at most'),
    max_file_bytes: z
      .int()
      .min(1)
      .max(files.maxSearchFileBytes)
      .default(files.searchFileBytes)
      .describe('Larger files are not read'),
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
        line: z.int().optional().describe('From 1; only with query'),
        column: z.int().optional().describe('From 1, in characters; only with query'),
        text: z.string().optional().describe(`The line, at most ${files.lineChars} characters of it`),
      }),
    ),
    truncated: z.boolean(),
    files_scanned: z.int(),
    files_skipped: z.int().describe('Too large, binary or not readable'),
  })
  .meta({ id: 'FileMatches' })

export const infoInput = z
  .object({
    ...session,
    ...at,
    follow_symlinks: z.boolean().default(false).describe('Tell of what a link leads to'),
    checksum: z.boolean().default(false).describe('Add the sha256 of a file'),
  })
  .superRefine(onePath)

export const fileInfo = entry.extend({ sha256: z.string().optional() }).meta({ id: 'FileInfo' })

export const deleteInput = z
  .object({
    ...session,
    ...at,
    recursive: z.boolean().default(false).describe('A folder with all that is in it'),
    missing_ok: z.boolean().default(false).describe('What is not there is no failure'),
  })
  .superRefine(onePath)

export const deleteOutput = z.object({ ...pathOut, deleted: z.int().describe('Files and folders that are gone') })

const between = {
  source: pathText.optional().meta(aliases('from', 'src')).describe('Absolute, or relative to /workspace'),
  source_b64: pathBytes.optional().describe('The source as base64, for names that are not UTF-8'),
  destination: pathText.optional().meta(aliases('to', 'dest')).describe('Absolute, or relative to /workspace'),
  destination_b64: pathBytes.optional().describe('The destination as base64, for names that are not UTF-8'),
  overwrite: z.boolean().default(false).describe('Replace what is there'),
}
const twoPaths = (value: Record<string, unknown>, context: z.RefinementCtx): void => {
  oneOf('source', 'source_b64')(value, context)
  oneOf('destination', 'destination_b64')(value, context)
}

export const copyInput = z
  .object({
    ...session,
    ...between,
    recursive: z.boolean().default(true).describe('Take folders with all that is in them'),
  })
  .superRefine(twoPaths)

const betweenOut = { source: z.string(), destination: z.string() }

export const copyOutput = z.object({ ...betweenOut, entries: z.int(), bytes: z.int() })

export const moveInput = z.object({ ...session, ...between }).superRefine(twoPaths)

export const moveOutput = z.object({ ...betweenOut, entry: fileEntry })

export const mkdirInput = z
  .object({
    ...session,
    ...at,
    parents: z.boolean().default(true).describe('Make the folders above it; one that exists is no failure'),
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

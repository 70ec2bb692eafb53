/** Commands that give files to a page. */
import type { ElementHandle, FileChooser, Locator, Page } from 'playwright'
import { z } from 'zod'
import { BaxError } from '../core/errors/errors.ts'
import { limits } from '../core/limits/limits.ts'
import { type CallLimit, type CommandContext, defineCommand } from '../core/operation/command.ts'
import type { FilesToUpload } from '../core/operation/files-to-upload.ts'
import { withoutNul } from '../core/shapes/fields.ts'
import { dropFiles } from './input/drop/drop-files.ts'
import { untilSent } from './input/drop/sent-files.ts'
import { isReplaced } from './input/select-widget.ts'
import { elementTimeout, selector } from './fields.ts'

/** Time for a file chooser to open after the click on an element. */
const chooserMs = 3000

export const upload_files = defineCommand({
  kind: 'action',
  summary: 'Select files in a file input, or drop them',
  also: ['upload'],
  example: ["'input[type=file]' ./photo.png", "'input[webkitdirectory]' ./photos", "'#drop-zone' ./photo.png --drop"],
  data: z.object({
    selector: selector.describe(
      'File input, visible or hidden, its label, a button that opens a file chooser, or an element that accepts ' +
        'dropped files; as any other selector',
    ),
    files: z
      .array(withoutNul(z.string().min(1).max(limits.files.pathBytes)))
      .min(1)
      .max(limits.session.files)
      .describe(
        'Names of files of the session; on the command line local files and folders, which are uploaded first, or session:NAME',
      ),
    drop: z
      .boolean()
      .default(false)
      .describe('Drop the files on the element, without a click on it first that may open a file chooser'),
    timeout_ms: elementTimeout,
  }),
  localFiles: 'files',
  result: z.object({
    files: z
      .array(z.string())
      .describe(
        'Names of the selected or dropped files, as the page sees them; with their paths in an uploaded folder',
      ),
  }),
  run: async (context, { files: given, drop, ...target }) => {
    const { page, act, upload } = context
    const { selector } = target
    const files = upload(given)
    const selected = drop
      ? null
      : await act(target, 'present', (element, limit) =>
          untilSent(context, limit, () => select(context, element, files, selector, limit)),
        )
    if (selected) return { data: { files: selected } }
    const names = await act(target, 'pointer', async (element, limit) => {
      const chooser = drop ? null : await chooserOf(page, () => element.click(limit), limit)
      if (chooser) {
        const input = chooser.element()
        const facts = (await input.evaluate(inputOf))!
        return untilSent(context, limit, async () => {
          await chooser.setFiles(await pathsFor(selector, facts, files), { timeout: limit.timeout })
          return checkSelected(context, { selector, input, files })
        })
      }
      const paths = await files.arrange()
      if (await untilSent(context, limit, () => dropFiles(context, { element, paths, selector }, limit)))
        return [...files.names]
      const why = drop
        ? `${selector} does not accept dropped files`
        : `${selector} is not a file input, a click on it opens no file chooser, and it does not accept dropped files`
      throw new BaxError('action_failed', why, {
        details: { selector },
        hint: 'use the selector of the input[type=file] itself, or of the element that accepts dropped files',
      })
    })
    return { data: { files: names } }
  },
})

/** Selects the files in a file input or that of a label; returns null for any other element. */
async function select(
  context: CommandContext,
  element: Locator,
  files: FilesToUpload,
  selector: string,
  limit: CallLimit,
): Promise<string[] | null> {
  const facts = await element.evaluate(inputOf, undefined, limit)
  if (!facts) return null
  if (facts.disabled) throw new BaxError('not_editable', `${selector} is disabled`, { details: { selector } })
  const handle = (await element.elementHandle(limit))!
  await handle.setInputFiles(await pathsFor(selector, facts, files), limit)
  return checkSelected(context, { selector, input: handle, files })
}

interface Selection {
  readonly selector: string
  readonly input: ElementHandle<Node>
  readonly files: FilesToUpload
}

/** Returns the names of the files that the page sees; warns about those that the dialog of a browser would not offer. */
async function checkSelected({ warn }: CommandContext, { selector, input, files }: Selection): Promise<string[]> {
  const { paths } = files
  const seen = await input.evaluate(filesIn).catch(async (error: unknown) => {
    // Pages may send their form, and leave, as soon as files are selected.
    if (await isReplaced(input)) return null
    throw error
  })
  if (!seen) return [...files.names]
  const { accept, unaccepted, names } = seen
  if (unaccepted.length > 0)
    warn(`${selector} is for files of the types ${accept}, and not for ${unaccepted.join(', ')}`)
  // A page may take the files at once, and empty the input.
  if (names.length === 0 || names.length === paths.length) return names
  throw new BaxError('action_failed', `${selector} has ${names.length} of ${paths.length} files`, {
    details: { selector, files: names },
  })
}

/** Runs in the page: describes the selected files; `unaccepted` are those that do not fit the types of the input. */
function filesIn(node: Node): { accept: string; unaccepted: string[]; names: string[] } {
  const input = (node instanceof HTMLLabelElement ? node.control : node) as HTMLInputElement
  const { accept } = input
  const files = [...(input.files ?? [])]
  const types = accept
    .toLowerCase()
    .split(',')
    .flatMap((type) => type.trim() || [])
  const fits = ({ name, type }: File) =>
    types.length === 0 ||
    ['*', '*/*'].some((all) => types.includes(all)) ||
    types.some((one) => {
      if (one.startsWith('.')) return name.toLowerCase().endsWith(one)
      return one.endsWith('/*') ? type.startsWith(one.slice(0, -1)) : type === one
    })
  const unaccepted = files.filter((file) => !fits(file)).map(({ name }) => name)
  return { accept, unaccepted, names: files.map((file) => file.webkitRelativePath || file.name) }
}

interface FileInput {
  readonly multiple: boolean
  readonly disabled: boolean
  /** Whether it takes a folder. */
  readonly directory: boolean
}

/** Runs in the page: describes a file input, or that of a label; null for any other element. */
function inputOf(node: Node): FileInput | null {
  const input = node instanceof HTMLLabelElement ? node.control : node
  if (!(input instanceof HTMLInputElement) || input.type !== 'file') return null
  return { multiple: input.multiple, disabled: input.disabled, directory: input.webkitdirectory }
}

/** Returns the paths to select in an input: those of files, or that of a folder. */
async function pathsFor(selector: string, { multiple, directory }: FileInput, files: FilesToUpload): Promise<string[]> {
  const fail = (message: string, hint?: string) =>
    new BaxError('invalid_data', message, { details: { selector }, ...(hint !== undefined && { hint }) })
  if (directory) {
    if (files.single > 0) throw fail(`${selector} accepts a folder, not single files`, 'name the folder')
    if (files.folders > 1) throw fail(`${selector} accepts one folder, not ${files.folders}`)
    return files.arrange()
  }
  if (!multiple && files.paths.length > 1) throw fail(`${selector} accepts one file, not ${files.paths.length}`)
  return [...files.paths]
}

/** Returns the file chooser that a click opens; null when none opens. */
async function chooserOf(page: Page, click: () => Promise<void>, { signal }: CallLimit): Promise<FileChooser | null> {
  const opened = page.waitForEvent('filechooser', { timeout: chooserMs, signal }).catch(() => {
    signal.throwIfAborted()
    return null
  })
  const [chooser] = await Promise.all([opened, click()])
  return chooser
}

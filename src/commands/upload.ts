/** Commands that give files to a page. */
import type { FileChooser, Locator, Page } from 'playwright'
import { z } from 'zod'
import { BaxError } from '../core/errors/errors.ts'
import { limits } from '../core/limits/limits.ts'
import { type CallLimit, defineCommand } from '../core/operation/command.ts'
import { withoutNul } from '../core/shapes/fields.ts'
import { elementTimeout, selector } from './fields.ts'

/** Time for a file chooser to open after the click on an element. */
const chooserMs = 3000

export const upload_files = defineCommand({
  kind: 'action',
  summary: 'Select files in a file input',
  also: ['upload'],
  example: "'input[type=file]' ./photo.png",
  data: z.object({
    selector: selector.describe(
      'File input, visible or hidden, its label, or a button that opens a file chooser; as any other selector',
    ),
    files: z
      .array(withoutNul(z.string().min(1).max(limits.files.pathBytes)))
      .min(1)
      .max(limits.session.files)
      .describe(
        'Names of files of the session; on the command line local files, which are uploaded first, or session:NAME',
      ),
    timeout_ms: elementTimeout,
  }),
  localFiles: 'files',
  result: z.object({ files: z.array(z.string()).describe('Names of the selected files, as the page sees them') }),
  run: async ({ page, act, upload }, { files, ...target }) => {
    const paths = files.map(upload)
    const selected = await act(target, 'present', (element, limit) => select(element, paths, target.selector, limit))
    if (selected) return { data: { files: selected } }
    const names = await act(target, 'pointer', async (element, limit) => {
      const chooser = await chooserOf(page, target.selector, () => element.click(limit), limit)
      checkCount(target.selector, chooser.isMultiple(), paths)
      await chooser.setFiles(paths, { timeout: limit.timeout })
      return chooser.element().evaluate(namesOf)
    })
    return { data: { files: names } }
  },
})

/** Selects the files in a file input or that of a label; returns null for any other element. */
async function select(
  element: Locator,
  paths: readonly string[],
  selector: string,
  limit: CallLimit,
): Promise<string[] | null> {
  const field = await element.evaluate(
    (node) => {
      const input = node instanceof HTMLLabelElement ? node.control : node
      if (!(input instanceof HTMLInputElement) || input.type !== 'file') return null
      return { multiple: input.multiple, disabled: input.disabled }
    },
    undefined,
    limit,
  )
  if (!field) return null
  if (field.disabled) throw new BaxError('not_editable', `${selector} is disabled`, { details: { selector } })
  checkCount(selector, field.multiple, paths)
  await element.setInputFiles([...paths], limit)
  return element.evaluate(namesOf, undefined, limit)
}

/** Runs in the page: returns the names of the selected files. */
function namesOf(node: Node): string[] {
  const input = node instanceof HTMLLabelElement ? node.control : node
  return [...((input as HTMLInputElement).files ?? [])].map((file) => file.name)
}

function checkCount(selector: string, multiple: boolean, paths: readonly string[]): void {
  if (multiple || paths.length < 2) return
  throw new BaxError('invalid_data', `${selector} accepts one file, not ${paths.length}`, { details: { selector } })
}

/** Returns the file chooser that a click opens. @throws BaxError `action_failed` when none opens. */
async function chooserOf(
  page: Page,
  selector: string,
  click: () => Promise<void>,
  { signal }: CallLimit,
): Promise<FileChooser> {
  const opened = page.waitForEvent('filechooser', { timeout: chooserMs, signal }).catch((error: unknown) => {
    signal.throwIfAborted()
    throw new BaxError('action_failed', `${selector} is not a file input, and a click on it opens no file chooser`, {
      details: { selector },
      hint: 'use the selector of the input[type=file] itself',
      cause: error,
    })
  })
  const [chooser] = await Promise.all([opened, click()])
  return chooser
}

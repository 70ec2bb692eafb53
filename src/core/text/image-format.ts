/** Image formats by the extension of a file name. */
import { BaxError } from '../errors/errors.ts'

export const imageFormats = ['png', 'jpeg', 'webp'] as const

export type ImageFormat = (typeof imageFormats)[number]

/** Returns the format of a file, PNG without an extension. @throws BaxError `invalid_data` for other extensions */
export function imageFormatOf(path: string): ImageFormat {
  const [, extension = 'png'] = /[^/\\]\.([^./\\]*)$/.exec(path) ?? []
  const name = extension.toLowerCase()
  const format = imageFormats.find((one) => one === (name === 'jpg' ? 'jpeg' : name))
  if (format) return format
  throw new BaxError('invalid_data', `${path} has no extension of an image format: use .png, .jpg, .jpeg or .webp`, {
    hint: 'choose the format with --format to write any other name',
  })
}

/** Returns the field `format` of a screenshot that is written to `path` elsewhere than where it is taken. */
export function formatFor(
  bytesField: string | null | undefined,
  data: Readonly<Record<string, unknown>>,
  path: unknown,
): { format?: ImageFormat } {
  const isOpen = bytesField === 'screenshot' && data['format'] === undefined && typeof path === 'string' && path !== '-'
  return isOpen ? { format: imageFormatOf(path) } : {}
}

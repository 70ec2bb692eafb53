/** Commands that take screenshots. */
import type { Page } from 'playwright'
import { z } from 'zod'
import { type CallLimit, type CommandContext, defineCommand } from '../../core/operation/command.ts'
import { limits } from '../../core/limits/limits.ts'
import { annotation, box } from '../../core/shapes/commands.ts'
import { elementTimeout, resultPath, savedPath, selector } from '../fields.ts'
import { type ImageFormat, imageFormatOf, imageFormats } from '../../core/text/image-format.ts'
import { flag, integer, number } from '../../core/shapes/fields.ts'
import { contentsBox } from './contents-box.ts'
import { takeWebp } from './webp.ts'

const image = z.string().describe('Image data, base64 without a data: prefix')

const edge = number(0, 100_000)

const area = z
  .object({ x: edge, y: edge, width: number(1, 100_000), height: number(1, 100_000) })
  .meta({ spelling: { form: 'X,Y,WIDTH,HEIGHT', fields: ['x', 'y', 'width', 'height'], separator: ',' } })

const quality = integer(0, 100).optional()

/** Area and format of a screenshot. */
export interface ShotOptions extends CallLimit {
  readonly format: ImageFormat
  readonly quality: number
  readonly scale: 'css' | 'device'
  readonly fullPage: boolean
  /** Area in CSS pixels of the viewport, or of the whole page with `fullPage`. */
  readonly clip?: Box | undefined
}

type Box = z.output<typeof box>

export const screenshot = defineCommand({
  kind: 'extraction',
  summary: 'Take a screenshot of the page or an element',
  example: ['-o page.png', '--full-page -o page.png'],
  positional: [['full_page'], ['path'], ['selector'], ['selector', 'path'], ['path', 'selector'], []],
  data: z
    .object({
      full_page: flag('Capture the whole page instead of the viewport'),
      path: resultPath,
      selector: selector.optional().describe('Element to capture instead of the viewport'),
      clip: area.optional().describe('Part of the viewport, or of the page with full_page, in CSS pixels'),
      annotate: flag('Draw the references of the controls, which the result lists'),
      format: z
        .enum(imageFormats)
        .optional()
        .describe('Format of the image; by the extension of path when omitted, else png'),
      quality: quality.describe('Quality of jpeg and webp, 80 when omitted; ignored for png'),
      scale: z
        .enum(['device', 'css'])
        .default('device')
        .describe('css: one pixel for each CSS pixel, whatever the device scale factor'),
    })
    .refine(({ selector, clip, full_page }) => selector === undefined || (!clip && !full_page), {
      message: 'cannot be combined with clip or full_page',
      path: ['selector'],
    }),
  bytes: 'screenshot',
  result: z.object({
    screenshot: image,
    path: savedPath,
    annotations: z.array(annotation).optional().describe('Only with annotate'),
  }),
  run: async (context, { path, selector, annotate, full_page, quality = 80, ...options }) => {
    const limit = { timeout: limits.command.navigationMs, signal: context.signal }
    const { format = path === undefined ? 'png' : imageFormatOf(path) } = options
    const shot = { ...options, format, quality, fullPage: full_page }
    const { bytes, annotations } =
      selector === undefined
        ? await capture(context, annotate, { ...shot, ...limit })
        : await context.act({ selector }, 'visible', async (element, elementLimit) => {
            const contents = await contentsBox(element, selector, elementLimit)
            if (contents) return capture(context, annotate, { ...shot, clip: contents, ...limit })
            await element.scrollIntoViewIfNeeded(elementLimit)
            const clip = (await element.boundingBox(elementLimit)) ?? undefined
            if (!annotate && shot.format !== 'webp')
              return { bytes: await element.screenshot({ ...playwrightOptions(shot), ...elementLimit }) }
            return capture(context, annotate, { ...shot, clip, ...limit })
          })
    const saved = path === undefined ? undefined : await context.save(path, bytes, 'screenshot')
    return {
      content_type: `image/${shot.format}`,
      data: {
        screenshot: bytes.toString('base64'),
        ...(saved !== undefined && { path: saved }),
        ...(annotations && { annotations }),
      },
    }
  },
})

/** Takes a screenshot, with the references of the controls drawn if requested. */
async function capture({ page, annotate }: CommandContext, annotated: boolean, options: ShotOptions) {
  if (!annotated) return { bytes: await take(page, options) }
  const drawn = await annotate()
  try {
    const bytes = await take(page, options)
    const { scroll, viewport } = drawn
    const whole = { x: -scroll.x, y: -scroll.y }
    const { clip } = options
    const shown = clip
      ? { ...clip, x: clip.x + (options.fullPage ? whole.x : 0), y: clip.y + (options.fullPage ? whole.y : 0) }
      : options.fullPage
        ? { ...whole, width: Infinity, height: Infinity }
        : { x: 0, y: 0, ...viewport }
    const annotations = drawn.annotations
      .filter(({ box }) => overlaps(box, shown))
      .map(({ box, ...rest }) => ({ ...rest, box: { ...box, x: box.x - shown.x, y: box.y - shown.y } }))
    return { bytes, annotations }
  } finally {
    await drawn.clear()
  }
}

const overlaps = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

function take(page: Page, options: ShotOptions): Promise<Buffer> {
  if (options.format === 'webp') return takeWebp(page, options)
  const { fullPage, clip, timeout, signal } = options
  return page.screenshot({ ...playwrightOptions(options), fullPage, ...(clip && { clip }), timeout, signal })
}

/** Returns Playwright's options; it refuses a quality for PNG. */
const playwrightOptions = ({ format, quality, scale }: Pick<ShotOptions, 'format' | 'quality' | 'scale'>) =>
  format === 'jpeg' ? ({ type: 'jpeg', quality, scale } as const) : ({ type: 'png', scale } as const)

export const element_screenshot = defineCommand({
  kind: 'extraction',
  summary: 'Take a screenshot of an element',
  example: ["'#chart' -o chart.png", "'#chart' --format jpeg --quality 80 -o chart.jpg"],
  data: z.object({
    selector,
    format: z.enum(['png', 'jpeg']).default('png').describe('Format of the image'),
    quality: quality.describe('JPEG quality, 80 when omitted; ignored for png'),
    timeout_ms: elementTimeout,
  }),
  bytes: 'screenshot',
  result: z.object({ screenshot: image }),
  run: async ({ act }, { format, quality = 80, ...target }) => {
    const how = format === 'jpeg' ? ({ type: 'jpeg', quality } as const) : ({ type: 'png' } as const)
    const bytes = await act(target, 'visible', (element, limit) => element.screenshot({ ...how, ...limit }))
    return { content_type: `image/${format}`, data: { screenshot: bytes.toString('base64') } }
  },
})

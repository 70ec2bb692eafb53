import { z } from 'zod'
import { defineOperation, defineStream } from '../../core/operation/operation.ts'
import { buildFrame, imageBuild, shellImage } from '../../core/shapes/shell/images.ts'

export const listShellImages = defineOperation({
  summary: 'List available images for shell sessions',
  http: 'GET /shell/images',
  scope: 'shell',
  cli: 'shell image list',
  example: 'bax shell image list',
  show: { as: 'table', items: 'images', columns: ['name', 'size_bytes', 'created_at'] },
  input: z.object({}),
  output: z.object({ images: z.array(shellImage) }),
  errors: ['docker_unavailable'],
  run: async (engine) => ({ images: await engine.shells.images.list() }),
})

export const buildShellImage = defineStream({
  summary: 'Build an image for shell sessions',
  description:
    'Builds on this machine, without a registry. `log` frames report progress; exactly one `built` or `error` ends the stream.',
  http: 'POST /shell/images/build',
  scope: 'admin',
  cli: 'shell image build',
  example: 'bax shell image build',
  input: imageBuild,
  frame: buildFrame,
  errors: ['docker_unavailable', 'feature_disabled'],
  open: (engine, input, call) => engine.shells.images.build(input, call),
})

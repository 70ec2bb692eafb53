/** Shell sessions and their images. */
import { z } from 'zod'
import { defineOperation, defineStream } from '../../core/operation/operation.ts'
import { session } from '../../core/shapes/shell/exec.ts'
import {
  shellKill,
  shellList,
  shellListInput,
  shellSession,
  shellSessionInput,
  touchInput,
} from '../../core/shapes/shell/session.ts'
import { buildFrame, imageBuild, shellImage } from '../../core/shapes/shell/images.ts'

/** Path or body field that identifies a shell session. */
const shellId = z.object(session)

export const createShell = defineOperation({
  summary: 'Create a shell session in its own container',
  description:
    'Responds when the container is running, taken from a warm pool if possible. Only `network`, `limits` and `image` ' +
    'configure the container.',
  http: 'POST /shell/sessions',
  scope: 'shell',
  cli: 'shell create',
  example: 'bax shell create --language python',
  show: { as: 'field', field: 'session_id' },
  engine: 'start',
  input: shellSessionInput,
  output: shellSession,
  idempotent: true,
  errors: ['image_not_found', 'conflict', 'feature_disabled', 'too_many_sessions', 'no_capacity', 'docker_unavailable'],
  run: (engine, input, call) => engine.shells.sessions.create(input, call),
})

export const listShells = defineOperation({
  summary: 'List shell sessions, newest first',
  description: 'Stopped sessions are listed for an hour.',
  http: 'GET /shell/sessions',
  scope: 'shell',
  cli: 'shell list',
  example: 'bax shell list --status ready',
  show: {
    as: 'table',
    items: 'sessions',
    columns: ['session_id', 'name', 'status', 'language', 'image', 'running_execs', 'last_active_at', 'stop_reason'],
  },
  input: shellListInput,
  output: shellList,
  run: (engine, input, call) => engine.shells.sessions.list(input, call),
})

export const getShell = defineOperation({
  summary: 'Show one shell session',
  http: 'GET /shell/sessions/{session_id}',
  scope: 'shell',
  cli: 'shell show <session_id>',
  example: 'bax shell show sh_…',
  show: { as: 'record' },
  input: shellId,
  output: shellSession,
  errors: ['shell_session_not_found'],
  run: (engine, { session_id }, call) => engine.shells.sessions.get(session_id, call),
})

export const touchShell = defineOperation({
  summary: 'Restart the idle timeout of a shell session',
  http: 'POST /shell/sessions/{session_id}/touch',
  scope: 'shell',
  cli: 'shell touch <session_id>',
  example: 'bax shell touch sh_… --timeout-secs 3600',
  show: { as: 'field', field: 'expires_at' },
  input: shellId.extend(touchInput.shape),
  output: shellSession,
  errors: ['shell_session_not_found', 'session_closed', 'conflict'],
  run: (engine, { session_id, timeout_secs }, call) => engine.shells.sessions.touch(session_id, timeout_secs, call),
})

export const killShell = defineOperation({
  summary: 'Kill all processes of a shell session',
  description:
    'Files are kept. Running commands end with SIGKILL and report it. Also works when the session has reached `limits.pids`.',
  http: 'POST /shell/sessions/{session_id}/kill',
  scope: 'shell',
  cli: 'shell kill [session_id]',
  example: 'bax shell kill sh_…',
  show: { as: 'field', field: 'killed' },
  input: shellId,
  output: shellKill,
  errors: ['shell_session_not_found', 'session_closed', 'conflict', 'session_lost', 'timeout'],
  run: (engine, { session_id }, call) => engine.shells.sessions.kill(session_id, call),
})

export const deleteShell = defineOperation({
  summary: 'Stop a shell session',
  description:
    'Kills its commands, captures new files of the output mounts, and responds when the container is removed.',
  http: 'DELETE /shell/sessions/{session_id}',
  scope: 'shell',
  cli: 'shell delete <session_id>',
  example: 'bax shell delete sh_…',
  input: shellId,
  output: null,
  errors: ['shell_session_not_found'],
  run: (engine, { session_id }, call) => engine.shells.sessions.delete(session_id, call),
})

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

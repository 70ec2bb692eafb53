/** Shell sessions and their images. */
import { z } from 'zod'
import { defineOperation, defineStream } from '../../core/operation/operation.ts'
import { onShell } from '../../core/operation/placement.ts'
import { graceSecs, leaseFrame } from '../../core/access/lease.ts'
import { session } from '../../core/shapes/shell/exec.ts'
import {
  newestShellFirst,
  shellCursor,
  shellKill,
  type ShellList,
  shellList,
  shellListInput,
  shellSession,
  shellSessionInput,
  touchInput,
} from '../../core/shapes/shell/session.ts'
import { buildFrame, imageBuild, shellImage } from '../../core/shapes/shell/images.ts'
import { samples } from '../samples.ts'

/** Path or body field that identifies a shell session. */
const shellId = z.object(session)

export const createShell = defineOperation({
  summary: 'Create a shell session in its own container',
  description:
    'Responds when the container is running, taken from a warm pool if possible. Only `network`, `limits` and `image` ' +
    'configure the container.',
  http: 'POST /shell/sessions',
  scope: 'shell',
  runs: { on: 'new', slot: 'shell', name: 'name' },
  cli: 'shell create',
  example: ['bax shell create --language python', 'bax shell create --name data --network bridge --timeout-secs 3600'],
  show: { as: 'field', field: 'session_id' },
  engine: 'start',
  sample: { language: 'python', name: 'report', output_mounts: ['/output'] },
  input: shellSessionInput,
  output: shellSession,
  idempotent: true,
  errors: ['image_not_found', 'feature_disabled', 'too_many_sessions', 'docker_unavailable'],
  run: (engine, input, call) => engine.shells.sessions.create(input, call),
})

/** Joins the pages of several workers, each of which has the first sessions after the cursor. */
function joinShells(lists: readonly ShellList[], { limit }: { readonly limit: number }): ShellList {
  const all = lists.flatMap(({ sessions }) => sessions).toSorted(newestShellFirst)
  const sessions = all.slice(0, limit)
  const last = sessions.at(-1)
  const hasMore = all.length > limit || lists.some(({ next_cursor: next }) => next !== null)
  return {
    sessions,
    total: lists.reduce((sum, { total }) => sum + total, 0),
    next_cursor: last && hasMore ? shellCursor(last) : null,
  }
}

export const listShells = defineOperation({
  summary: 'List shell sessions, newest first',
  description: 'Stopped sessions are listed for an hour.',
  http: 'GET /shell/sessions',
  scope: 'shell',
  runs: { on: 'all', merge: joinShells },
  cli: 'shell list',
  example: ['bax shell list', 'bax shell list --status ready --json'],
  show: {
    as: 'table',
    items: 'sessions',
    columns: ['session_id', 'name', 'status', 'language', 'image', 'running_execs', 'last_active_at', 'stop_reason'],
  },
  sample: { status: 'ready', limit: 20 },
  input: shellListInput,
  output: shellList,
  run: (engine, input, call) => engine.shells.sessions.list(input, call),
})

export const getShell = defineOperation({
  summary: 'Show one shell session',
  http: 'GET /shell/sessions/{session_id}',
  scope: 'shell',
  runs: onShell,
  cli: 'shell show <session_id>',
  example: ['bax shell show data', 'bax shell show sh_… --json'],
  show: { as: 'record' },
  sample: samples.shell,
  input: shellId,
  output: shellSession,
  run: (engine, { session_id }, call) => engine.shells.sessions.get(session_id, call),
})

export const touchShell = defineOperation({
  summary: 'Restart the idle timeout of a shell session',
  http: 'POST /shell/sessions/{session_id}/touch',
  scope: 'shell',
  runs: onShell,
  cli: 'shell touch <session_id>',
  example: ['bax shell touch data', 'bax shell touch data --timeout-secs 3600'],
  show: { as: 'field', field: 'expires_at' },
  sample: { ...samples.shell, timeout_secs: 3600 },
  input: shellId.extend(touchInput.shape),
  output: shellSession,
  errors: ['session_closed', 'conflict'],
  run: (engine, { session_id, timeout_secs }, call) => engine.shells.sessions.touch(session_id, timeout_secs, call),
})

export const killShell = defineOperation({
  summary: 'Kill all processes of a shell session',
  description:
    'Files are kept. Running commands end with SIGKILL and report it. Also works when the session has reached `limits.pids`.',
  http: 'POST /shell/sessions/{session_id}/kill',
  scope: 'shell',
  runs: onShell,
  cli: 'shell kill [session_id]',
  example: ['bax shell kill data', 'bax shell kill sh_…'],
  show: { as: 'field', field: 'killed' },
  sample: samples.shell,
  input: shellId,
  output: shellKill,
  errors: ['session_closed', 'conflict', 'session_lost', 'timeout'],
  run: (engine, { session_id }, call) => engine.shells.sessions.kill(session_id, call),
})

export const deleteShell = defineOperation({
  summary: 'Stop a shell session',
  description:
    'Kills its commands, captures new files of the output mounts, and responds when the container is removed.',
  http: 'DELETE /shell/sessions/{session_id}',
  scope: 'shell',
  runs: onShell,
  cli: 'shell delete <session_id>',
  example: ['bax shell delete data', 'bax shell delete sh_…'],
  sample: samples.shell,
  input: shellId,
  output: null,
  run: (engine, { session_id }, call) => engine.shells.sessions.delete(session_id, call),
})

export const leaseShell = defineStream({
  summary: 'Keep a shell session until the stream ends',
  description: 'Deletes the session when the last such stream of it has ended, for clients that may be killed.',
  http: 'GET /shell/sessions/{session_id}/lease',
  scope: 'shell',
  runs: onShell,
  sample: { ...samples.shell, grace_secs: 600 },
  input: shellId.extend({ grace_secs: graceSecs }),
  frame: leaseFrame,
  errors: ['session_closed'],
  open: (engine, { session_id, grace_secs }, call) => engine.shells.sessions.lease(session_id, grace_secs, call),
})

export const listShellImages = defineOperation({
  summary: 'List available images for shell sessions',
  http: 'GET /shell/images',
  scope: 'shell',
  runs: { on: 'any', label: 'shell' },
  cli: 'shell image list',
  example: ['bax shell image list', 'bax shell image list --json'],
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
  runs: { on: 'any', label: 'shell', once: () => true },
  cli: 'shell image build',
  example: ['bax shell image build', 'bax shell image build --which busybox'],
  sample: { which: 'busybox' },
  input: imageBuild,
  frame: buildFrame,
  errors: ['docker_unavailable', 'feature_disabled'],
  open: (engine, input, call) => engine.shells.images.build(input, call),
})

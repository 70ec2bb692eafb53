import { expect, test } from 'vitest'
import { shellSessionInput } from '../../../../src/core/shapes/shell/session.ts'
import type { ContainerEnd } from '../../../../src/engine/shell/container.ts'
import type { ShellContainer } from '../../../../src/engine/shell/interface.ts'
import { ShellSession } from '../../../../src/engine/shell/session/session.ts'

test.each([
  ['container has exited', { reason: 'exited', message: 'the container of the session exited' }, 'session_lost'],
  ['session is being deleted', { reason: 'removed', message: 'the session was stopped' }, 'conflict'],
] as const)('calls fail with the cause while a session stops since its %s', async (_, end: ContainerEnd, code) => {
  const session = new ShellSession({
    owner: null,
    input: shellSessionInput.parse({}),
    image: 'bax/base',
    log: () => {},
    captureFor: () => ({ take: async () => null, count: 0 }) as never,
    onStopped: () => {},
  })
  // The removal of its container never ends.
  const never = new Promise<never>(() => {})
  session.begin({ died: never, end, files: {}, remove: () => never } as unknown as ShellContainer)
  void session.stop('container_died')
  await expect(session.use(async () => 1)).rejects.toMatchObject({ code })
})

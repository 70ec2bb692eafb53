/** File operations in a container, performed by the agent. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ShellContainer } from '../../src/engine/shell/interface.ts'
import { bytesOf } from '../support/bytes.ts'
import { nameOf, openContainers, sh, smallContainer, testImages } from '../support/docker.ts'

const containerError = (code: string) => ({ name: 'ContainerError', code })
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()

for (const image of testImages)
  describe.skipIf(image.absent)(`files of a container, ${nameOf(image)}`, () => {
    let opened: Awaited<ReturnType<typeof openContainers>>
    let box: ShellContainer
    beforeAll(async () => {
      opened = await openContainers()
      box = await opened.containers.create(smallContainer(image.image, { outputMounts: ['/output', '/second'] }))
    })
    afterAll(() => opened?.close())
    beforeEach(() => sh(box, 'rm -rf /workspace/* /workspace/.[!.]* /output/* /second/*'))

    describe('inspecting', () => {
      test('returns facts of every type of entry', async () => {
        await sh(box, 'echo 123 > f; chmod 640 f; mkdir d; ln -s f link; mkfifo fifo')
        expect(await box.files.info('f')).toMatchObject({
          type: 'file',
          size: 4,
          mode: 0o640,
          uid: 1000,
          owner: 'user',
          group: 'user',
        })
        expect(await box.files.info('d')).toMatchObject({ type: 'directory', mode: 0o755 })
        const link = await box.files.info('/workspace/link')
        expect([link.type, text(link.linkTarget!)]).toEqual(['symlink', 'f'])
        expect(await box.files.info('link', { follow: true })).toMatchObject({
          type: 'file',
          size: 4,
          linkTarget: null,
        })
        expect(await box.files.info('fifo')).toMatchObject({ type: 'fifo' })
        expect(await box.files.info('/dev/null')).toMatchObject({ type: 'device', owner: 'root' })
        await expect(box.files.info('none')).rejects.toMatchObject(containerError('ENOENT'))
        await expect(box.files.info('f/x')).rejects.toMatchObject(containerError('ENOTDIR'))
        await expect(box.files.info('x'.repeat(5000))).rejects.toMatchObject(containerError('ENAMETOOLONG'))
        expect(text(await box.files.realPath('./d/../link'))).toBe('/workspace/f')
      })

      test('lists a directory in pages, bytewise, for any names', async () => {
        const names = ['B', 'a', 'new\nline', ' ', '-rf', '\u00e4', '.hidden', 'z'.repeat(255)]
        for (const name of names) await box.files.write(name, Buffer.from('x'))
        const odd = Buffer.from([0x2f, 0x77, 0x6f, 0x72, 0x6b, 0x73, 0x70, 0x61, 0x63, 0x65, 0x2f, 0xff, 0xfe])
        await box.files.write(odd, Buffer.from('odd'))
        const sorted = [...names.map((name) => Buffer.from(name)), Buffer.from([0xff, 0xfe])].toSorted(Buffer.compare)
        const all = await box.files.list('/workspace')
        expect(all.entries.map(({ name }) => Buffer.from(name))).toEqual(sorted)
        expect([all.total, all.next]).toEqual([9, null])
        const first = await box.files.list('.', { limit: 4 })
        expect([first.entries.length, first.total]).toEqual([4, 9])
        const rest = await box.files.list('.', { after: first.next! })
        expect([...first.entries, ...rest.entries].map(({ name }) => Buffer.from(name))).toEqual(sorted)
        expect((await box.files.list('.', { hidden: false })).total).toBe(8)
        expect((await box.files.read(odd)).data.toString()).toBe('odd')
        await expect(box.files.list('a')).rejects.toMatchObject(containerError('ENOTDIR'))
      })

      test('walks parents first, within depth and entry limits, without following links', async () => {
        await sh(box, 'mkdir -p a/b/c; echo 1 > a/b/c/f; ln -s .. a/loop; mkdir locked; chmod 0 locked; echo > z')
        const walk = async (options = {}) => {
          const seen = []
          for await (const { path, depth, unread, cut } of box.files.walk('/workspace', options))
            seen.push([text(path), depth, unread, cut])
          return seen
        }
        expect(await walk()).toEqual([
          ['a', 1, null, false],
          ['a/b', 2, null, false],
          ['a/b/c', 3, null, false],
          ['a/b/c/f', 4, null, false],
          ['a/loop', 2, null, false],
          ['locked', 1, 'unreadable', false],
          ['z', 1, null, false],
        ])
        expect(await walk({ maxDepth: 2 })).toContainEqual(['a/b', 2, 'depth', false])
        expect((await walk({ maxEntries: 2 })).at(-1)).toEqual(['a/b', 2, null, true])
        expect((await walk({ maxEntries: 7 })).at(-1)).toEqual(['z', 1, null, false])
        await sh(box, 'chmod 755 locked')
      })

      test('walks ten thousand files, and a tree deeper than the longest path', async () => {
        await sh(box, 'i=0; while [ $i -lt 10000 ]; do : > f$i; i=$((i+1)); done')
        let count = 0
        for await (const _ of box.files.walk('/workspace')) count++
        expect(count).toBe(10_000)
        const chain = (letter: string) => Array.from({ length: 60 }, () => letter.repeat(60)).join('/')
        await sh(box, 'rm -f f*')
        await box.files.mkdir(chain('a'))
        await box.files.mkdir(chain('b'))
        await box.files.move('b'.repeat(60), `${chain('a')}/${'b'.repeat(60)}`)
        let deepest = 0
        for await (const { path, depth } of box.files.walk('/workspace')) {
          deepest = depth
          expect(path.length).toBe(depth * 61 - 1)
        }
        expect(deepest).toBe(120)
        expect(await box.files.remove('a'.repeat(60), { recursive: true })).toBe(120)
      })
    })

    describe('reading', () => {
      test('reads any part of a file', async () => {
        await box.files.write('f', Buffer.from('0123456789'))
        expect(text((await box.files.read('f')).data)).toBe('0123456789')
        expect(text((await box.files.read('f', { offset: 3, length: 4 })).data)).toBe('3456')
        expect(text((await box.files.read('f', { offset: 8, length: 4 })).data)).toBe('89')
        expect((await box.files.read('f', { offset: 80 })).data).toHaveLength(0)
        expect((await box.files.read('/proc/self/status')).data.length).toBeGreaterThan(100)
      })

      test('never blocks on entries that are not files', async () => {
        await sh(box, 'mkfifo fifo; mkdir d')
        await expect(box.files.read('fifo')).rejects.toMatchObject(containerError('ENXIO'))
        await expect(box.files.read('d')).rejects.toMatchObject(containerError('EISDIR'))
        await expect(box.files.read('/dev/zero')).rejects.toMatchObject(containerError('ENXIO'))
        await expect(box.files.write('fifo', Buffer.from('x'))).rejects.toMatchObject(containerError('ENXIO'))
        await expect(box.files.write('fifo', Buffer.from('x'), { append: true })).rejects.toMatchObject(
          containerError('ENXIO'),
        )
      })

      test('streams at the pace of its reader, and reports whether the file changed', async () => {
        await sh(box, 'head -c 5000000 /dev/zero > f')
        const { data, facts, factsAfter } = await box.files.readStream('f')
        const pieces = data[Symbol.asyncIterator]()
        let size = (await pieces.next()).value!.length
        await sh(box, 'echo more >> f')
        for (let next = await pieces.next(); !next.done; next = await pieces.next()) size += next.value.length
        expect(size).toBe(5_000_005)
        expect((await factsAfter).modifiedNs).toBeGreaterThan(facts.modifiedNs)
      })

      test('can be canceled', async () => {
        await sh(box, 'head -c 5000000 /dev/zero > f')
        const controller = new AbortController()
        const { data } = await box.files.readStream('f', { signal: controller.signal })
        const reading = bytesOf(data)
        controller.abort()
        await reading.then(
          (bytes) => expect(bytes.length).toBe(5_000_000),
          (error: unknown) => expect(error).toMatchObject(containerError('ECANCELED')),
        )
        expect((await box.files.info('f')).size).toBe(5_000_000)
      })

      test('handles a sparse terabyte: facts at once, partial reads, and copies with holes', async () => {
        await sh(box, 'dd if=/dev/zero of=sparse bs=1 count=1 seek=1099511627775')
        expect((await box.files.info('sparse')).size).toBe(1024 ** 4)
        expect((await box.files.read('sparse', { offset: 2 ** 39, length: 10 })).data).toEqual(Buffer.alloc(10))
        expect(await box.files.copy('sparse', 'copy')).toEqual({ entries: 1, bytes: 1024 ** 4 })
      })
    })

    describe('writing', () => {
      test('creates a file and its folders, and keeps the mode of an existing file', async () => {
        expect(await box.files.write('new/folder/f', Buffer.from('one'), { mode: 0o600 })).toMatchObject({
          created: true,
          bytesWritten: 3,
          facts: { mode: 0o600, size: 3 },
        })
        await sh(box, 'chmod 755 new/folder/f')
        expect(await box.files.write('new/folder/f', Buffer.from('three'))).toMatchObject({
          created: false,
          facts: { mode: 0o755, size: 5 },
        })
        expect(await box.files.write('new/folder/f', Buffer.from('+'), { append: true })).toMatchObject({
          bytesWritten: 1,
          facts: { size: 6 },
        })
        await expect(box.files.write('new/folder/f', Buffer.from('x'), { overwrite: false })).rejects.toMatchObject(
          containerError('EEXIST'),
        )
        await expect(box.files.write('none/f', Buffer.from('x'), { createDirs: false })).rejects.toMatchObject(
          containerError('ENOENT'),
        )
        await expect(box.files.write('new', Buffer.from('x'))).rejects.toMatchObject(containerError('EISDIR'))
        await expect(box.files.write('', Buffer.from('x'))).rejects.toMatchObject(containerError('ENOENT'))
        await expect(box.files.write('/etc/new', Buffer.from('x'))).rejects.toMatchObject(containerError('EROFS'))
        await expect(box.files.write('/newfolder/f', Buffer.from('x'))).rejects.toMatchObject(containerError('EROFS'))
        expect((await sh(box, 'cat new/folder/f; ls -A new/folder')).stdout).toBe('three+f\n')
      })

      test('follows a link to its target', async () => {
        await sh(box, 'mkdir d; echo old > d/f; ln -s d/f link; ln -s gone dangling; ln -s round round')
        await box.files.write('link', Buffer.from('new'))
        await box.files.write('dangling', Buffer.from('made'))
        expect((await sh(box, 'cat d/f gone; readlink link; readlink dangling')).stdout).toBe('newmaded/f\ngone\n')
        await expect(box.files.write('round', Buffer.from('x'))).rejects.toMatchObject(containerError('ELOOP'))
      })

      test('accepts a source of any length, and discards one that fails', async () => {
        async function* source(breaks: boolean) {
          for (let index = 0; index < 40; index++) {
            if (breaks && index === 30) throw new Error('the client has gone')
            yield Buffer.alloc(100_000, index)
          }
        }
        expect((await box.files.write('f', source(false))).facts.size).toBe(4_000_000)
        await expect(box.files.write('f', source(true))).rejects.toThrow('the client has gone')
        expect((await box.files.info('f')).size).toBe(4_000_000)
        expect((await box.files.list('.')).total).toBe(1)
      })

      test('fails on a full disk and keeps the old content', async () => {
        await box.files.write('f', Buffer.from('old'))
        const tooMuch = Buffer.alloc(70 * 1024 * 1024)
        await expect(box.files.write('f', tooMuch)).rejects.toMatchObject(containerError('ENOSPC'))
        await expect(box.files.write('f', tooMuch, { append: true })).rejects.toMatchObject(containerError('ENOSPC'))
        expect((await sh(box, 'cat f; ls -A')).stdout).toBe('oldf\n')
      })
    })

    describe('removing', () => {
      test('removes a link but not its target', async () => {
        await sh(box, 'mkdir -p d/e keep; echo > keep/f; echo > d/e/f; ln -s ../keep d/link')
        await expect(box.files.remove('d')).rejects.toMatchObject(containerError('ENOTEMPTY'))
        expect(await box.files.remove('d', { recursive: true })).toBe(4)
        expect((await sh(box, 'find .')).stdout.split('\n').toSorted()).toEqual(['', '.', './keep', './keep/f'])
        await expect(box.files.remove('d')).rejects.toMatchObject(containerError('ENOENT'))
      })

      test('protects the root and the mounts with their contents', async () => {
        await sh(box, 'echo > /output/f')
        for (const path of ['/', '/workspace', '/output', '.', '/output/', '/workspace/../output', '/tmp', '/proc'])
          await expect(box.files.remove(path, { recursive: true }), path).rejects.toMatchObject(containerError('EBUSY'))
        expect((await box.files.info('/output/f')).size).toBe(1)
        await expect(box.files.remove('/etc/passwd')).rejects.toMatchObject(containerError('EROFS'))
      })
    })

    describe('copying and moving', () => {
      test('preserves links, modes and bytes', async () => {
        await sh(box, 'mkdir -p d/e; echo data > d/e/f; chmod 700 d/e; chmod 755 d/e/f; ln -s e/f d/link')
        expect(await box.files.copy('d', '/output/copy')).toEqual({ entries: 4, bytes: 5 })
        expect((await sh(box, 'cd /output/copy; cat link; readlink link; ls -ld e e/f | cut -c1-10')).stdout).toBe(
          'data\ne/f\ndrwx------\n-rwxr-xr-x\n',
        )
        await expect(box.files.copy('d', '/output/copy')).rejects.toMatchObject(containerError('EEXIST'))
        await expect(box.files.copy('d', 'x', { recursive: false })).rejects.toMatchObject(containerError('EISDIR'))
        await expect(box.files.copy('d', 'd/e/inside')).rejects.toMatchObject(containerError('ELOOP'))
        await expect(box.files.copy('d', 'd')).rejects.toMatchObject(containerError('EEXIST'))
        await expect(box.files.copy('d', 'd', { overwrite: true })).rejects.toMatchObject(containerError('ELOOP'))
        await expect(box.files.copy('.', '/output/../workspace/d/all')).rejects.toMatchObject(containerError('ELOOP'))
      })

      test('merges a folder into another with overwrite', async () => {
        await sh(box, 'mkdir a b; echo new > a/f; echo old > b/f; echo own > b/own; echo > file')
        await box.files.copy('a', 'b', { overwrite: true })
        expect((await sh(box, 'cat b/f b/own')).stdout).toBe('new\nown\n')
        await expect(box.files.copy('a', 'file', { overwrite: true })).rejects.toMatchObject(containerError('EEXIST'))
      })

      test('removes a copy that fails halfway', async () => {
        await sh(box, 'mkdir d; echo > d/a; mkfifo d/fifo')
        await expect(box.files.copy('d', 'copy')).rejects.toMatchObject(containerError('EINVAL'))
        await sh(box, 'rm d/fifo; head -c 30000000 /dev/zero > d/big; head -c 40000000 /dev/zero > d/second')
        await expect(box.files.copy('d', '/output/copy')).rejects.toMatchObject(containerError('ENOSPC'))
        expect((await box.files.list('/output')).total).toBe(0)
        expect((await box.files.list('.')).entries.map(({ name }) => text(name))).toEqual(['d'])
      })

      test('moves within and across mounts, all or nothing', async () => {
        await sh(box, 'mkdir d; echo data > d/f; echo other > o')
        expect(await box.files.move('d', 'e')).toMatchObject({ type: 'directory' })
        await box.files.move('/workspace/e', '/output/e')
        expect((await sh(box, 'cat /output/e/f; ls')).stdout).toBe('data\no\n')
        await expect(box.files.move('o', '/output/e/f')).rejects.toMatchObject(containerError('EEXIST'))
        await box.files.move('o', '/output/e/f', { overwrite: true })
        expect((await sh(box, 'cat /output/e/f; ls')).stdout).toBe('other\n')
        await expect(box.files.move('/output/e', '/output/e/f/x')).rejects.toMatchObject(containerError('ENOTDIR'))
        await expect(box.files.move('/output', '/workspace/x')).rejects.toMatchObject(containerError('EBUSY'))
        await expect(box.files.move('none', 'x')).rejects.toMatchObject(containerError('ENOENT'))
        await sh(box, 'head -c 40000000 /dev/zero > big')
        await expect(box.files.move('big', '/second/big')).rejects.toMatchObject(containerError('ENOSPC'))
        expect((await box.files.list('/second')).total).toBe(0)
        expect((await box.files.info('big')).size).toBe(40_000_000)
      })
    })

    test('creates folders with their parents, once', async () => {
      expect(await box.files.mkdir('a/b/c', { mode: 0o700 })).toBe(true)
      expect(await box.files.mkdir('a/b/c')).toBe(false)
      expect((await box.files.info('a/b/c')).mode).toBe(0o700)
      await expect(box.files.mkdir('a/b/c', { parents: false })).rejects.toMatchObject(containerError('EEXIST'))
      await expect(box.files.mkdir('x/y', { parents: false })).rejects.toMatchObject(containerError('ENOENT'))
      await sh(box, 'echo > file')
      await expect(box.files.mkdir('file')).rejects.toMatchObject(containerError('EEXIST'))
      await expect(box.files.mkdir('file/x')).rejects.toMatchObject(containerError('ENOTDIR'))
      await expect(box.files.mkdir('/x')).rejects.toMatchObject(containerError('EROFS'))
    })

    test('works while the process limit is reached', async () => {
      const taken = await box.exec({
        argv: ['sh', '-c', '(while sleep 777 & do :; done) 2>/dev/null; exec sleep 777'],
        cwd: '/',
        env: {},
        stdin: 'none',
        timeoutMs: 3000,
      })
      await box.files.write('f', Buffer.from('written'))
      expect(text((await box.files.read('f')).data)).toBe('written')
      expect((await taken.exit).leftRunning).toBe(0)
    })
  })

import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { download, upload } from '../../src/client/client.ts'
import { fileInfo, listOutput, treeOutput } from '../../src/core/shapes/shell/files.ts'
import { headerOf } from '../support/headers.ts'
import { failureOf } from '../support/session-steps.ts'
import { inEveryShell } from '../support/shell.ts'

type Fields = Record<string, unknown>

inEveryShell((given) => {
  const { sh } = given
  const ask =
    <
      Name extends
        | 'readShellFile'
        | 'writeShellFile'
        | 'listShellFiles'
        | 'shellFileTree'
        | 'searchShellFiles'
        | 'shellFileInfo'
        | 'deleteShellFile'
        | 'copyShellFile'
        | 'moveShellFile'
        | 'makeShellFolder',
    >(
      name: Name,
    ) =>
    (input: Fields = {}): Promise<Fields> =>
      given.client()[name]({ session_id: given.id(), ...input } as never) as never
  const [read, write, list, tree, search, info, remove, copy, move, mkdir] = [
    ask('readShellFile'),
    ask('writeShellFile'),
    ask('listShellFiles'),
    ask('shellFileTree'),
    ask('searchShellFiles'),
    ask('shellFileInfo'),
    ask('deleteShellFile'),
    ask('copyShellFile'),
    ask('moveShellFile'),
    ask('makeShellFolder'),
  ]
  const refused = async (call: Promise<unknown>, code: string, status: number) =>
    expect(await failureOf(call)).toMatchObject({ code, status })
  const of = async (answer: Promise<Fields>, field: string) => (await answer)[field]
  const names = async (answer: Promise<Fields>) => ((await answer)['entries'] as Fields[]).map(({ name }) => name)

  test('reads written content as text or base64, completely and in parts', async () => {
    const written = await write({ path: 'notes/a.txt', content: 'grün\n' })
    expect(written).toMatchObject({
      path: '/workspace/notes/a.txt',
      size: 6,
      bytes_written: 6,
      created: true,
      mode: '0644',
    })
    expect(await read({ path: 'notes/a.txt' })).toMatchObject({
      path: '/workspace/notes/a.txt',
      content: 'grün\n',
      encoding: 'utf8',
      size: 6,
      offset: 0,
      bytes_read: 6,
      eof: true,
      modified_at: written['modified_at'],
    })
    expect(await read({ path: '/workspace/notes/a.txt', offset: 1, length: 2 })).toMatchObject({
      content: 'csM=',
      encoding: 'base64',
    })
    expect(await read({ path: 'notes/a.txt', length: 2 })).toMatchObject({ content: 'gr', eof: false, bytes_read: 2 })
    expect(await write({ path: 'notes/a.txt', content: '/w==', encoding: 'base64', append: true })).toMatchObject({
      size: 7,
      created: false,
    })
    expect(await read({ path: 'notes/a.txt' })).toMatchObject({
      content: Buffer.from([...Buffer.from('grün\n'), 0xff]).toString('base64'),
      encoding: 'base64',
    })
    expect(await read({ path: 'notes/a.txt', encoding: 'utf8' })).toMatchObject({ content: 'grün\n\ufffd' })
    expect(await read({ path: '/proc/self/status' })).toMatchObject({
      eof: true,
      content: expect.stringContaining('Name:'),
    })
  })

  test('a write is atomic, keeps the mode of the replaced file, and creates folders by default', async () => {
    await write({ path: 'script', content: 'old', mode: '0755' })
    expect(await write({ path: 'script', content: 'new' })).toMatchObject({ mode: '0755', created: false, size: 3 })
    await refused(write({ path: 'script', content: 'x', overwrite: false }), 'already_exists', 409)
    await refused(write({ path: 'no/such/folder', content: 'x', create_dirs: false }), 'file_not_found', 404)
    await refused(write({ path: '/workspace', content: 'x' }), 'is_a_directory', 400)
    await refused(write({ path: '/etc/new', content: 'x' }), 'permission_denied', 403)
    await refused(write({ path: 'bad', content: 'no base64!', encoding: 'base64' }), 'invalid_request', 400)
    await refused(write({ path: 'bad', content: 'lone \ud800' }), 'invalid_request', 400)
    expect((await sh('cat script; ls')).stdout).not.toContain('tmp')
  })

  test('never blocks on entries that are not files', async () => {
    await sh('mkfifo pipe; ln -s nowhere dangling; echo x > secret; chmod 000 secret')
    await refused(read({ path: 'pipe' }), 'not_a_file', 400)
    await refused(read({ path: '/dev/zero' }), 'not_a_file', 400)
    await refused(read({ path: '/workspace' }), 'is_a_directory', 400)
    await refused(read({ path: 'dangling' }), 'file_not_found', 404)
    await refused(read({ path: 'pipe/below' }), 'not_a_directory', 400)
    await refused(read({ path: 'secret' }), 'permission_denied', 403)
    expect(await of(read({ path: '/etc/passwd' }), 'content')).toContain('user')
  })

  test('a file of more than 16 MiB is read in parts', async () => {
    await sh('head -c 17000000 /dev/zero > large')
    await refused(read({ path: 'large' }), 'payload_too_large', 413)
    expect(await read({ path: 'large', offset: 16_999_000, length: 5000 })).toMatchObject({
      bytes_read: 1000,
      eof: true,
      size: 17_000_000,
    })
    await sh('rm large')
  })

  test('paths are limited, and names that are not UTF-8 have their bytes', async () => {
    for (const path of ['', 'a\0b', 'x'.repeat(4097)]) await refused(read({ path }), 'invalid_request', 400)
    await refused(read({}), 'invalid_request', 400)
    await refused(read({ path: 'a', path_b64: 'YQ==' }), 'invalid_request', 400)
    await mkdir({ path: 'odd' })
    const path_b64 = Buffer.from('odd/\xff\xfe.txt', 'latin1').toString('base64')
    const absolute = Buffer.from('/workspace/odd/\xff\xfe.txt', 'latin1').toString('base64')
    expect(await write({ path_b64, content: 'bytes' })).toMatchObject({
      path: '/workspace/odd/\ufffd\ufffd.txt',
      path_b64: absolute,
    })
    const [entry] = (await of(list({ path: 'odd' }), 'entries')) as Fields[]
    expect(entry).toMatchObject({
      name: '\ufffd\ufffd.txt',
      name_b64: Buffer.from('\xff\xfe.txt', 'latin1').toString('base64'),
      path_b64: absolute,
    })
    expect(await read({ path_b64: entry!['path_b64'] })).toMatchObject({ content: 'bytes' })
  })

  test('a directory is listed bytewise, in pages, with the type of each entry', async () => {
    await sh(
      "mkdir -p d/sub; cd d; touch b a .hidden é Z; ln -s a link; mkfifo fifo; chmod 600 a; printf abc > 'sp ace'",
    )
    const listed = await list({ path: 'd' })
    expect(listOutput.safeParse(listed).error).toBeUndefined()
    expect(await names(list({ path: 'd' }))).toEqual(['.hidden', 'Z', 'a', 'b', 'fifo', 'link', 'sp ace', 'sub', 'é'])
    const entry = (name: string) => (listed['entries'] as Fields[]).find((item) => item['name'] === name)
    expect(entry('a')).toMatchObject({
      type: 'file',
      mode: '0600',
      owner: 'user',
      uid: 1000,
      path: '/workspace/d/a',
      symlink_target: null,
    })
    expect(entry('link')).toMatchObject({ type: 'symlink', symlink_target: 'a' })
    expect(entry('fifo')).toMatchObject({ type: 'fifo' })
    expect(entry('sp ace')).toMatchObject({ size: 3 })
    expect(listed).toMatchObject({ total: 9, truncated: false, next_cursor: null })
    const first = await list({ path: 'd', limit: 2, show_hidden: false })
    expect(first).toMatchObject({ total: 8, truncated: true })
    expect(await names(list({ path: 'd', limit: 2, show_hidden: false, cursor: first['next_cursor'] }))).toEqual([
      'b',
      'fifo',
    ])
    await refused(list({ path: 'd/a' }), 'not_a_directory', 400)
    await refused(list({ path: 'none' }), 'file_not_found', 404)
    expect(await names(list())).toContain('d')
  })

  test('a tree is limited in depth and entries, and follows no links', async () => {
    await sh('mkdir -p t/a/b/c t/empty; touch t/a/1 t/a/b/2 t/a/b/c/3; ln -s .. t/loop')
    const whole = await tree({ path: 't' })
    expect(treeOutput.safeParse(whole).error).toBeUndefined()
    const shape = (node: Fields): unknown =>
      node['children'] ? [node['name'], ...(node['children'] as Fields[]).map(shape)] : node['name']
    expect(shape(whole['root'] as Fields)).toEqual(['t', ['a', '1', ['b', '2', ['c', '3']]], ['empty'], 'loop'])
    expect(whole).toMatchObject({ entries: 8, truncated: false })
    const shallow = await tree({ path: 't', max_depth: 1 })
    expect(shape(shallow['root'] as Fields)).toEqual(['t', ['a'], ['empty'], 'loop'])
    expect((shallow['root'] as { children: Fields[] }).children[0]).toMatchObject({ children_omitted: true })
    const few = await tree({ path: 't', max_entries: 2 })
    expect(few).toMatchObject({ entries: 2, truncated: true, root: { children_omitted: true } })
    await refused(tree({ path: 't/a/1' }), 'not_a_directory', 400)
  })

  test('finds files by glob, text and regular expression; invalid and hostile ones are harmless', async () => {
    await sh(
      "mkdir -p s/src/.git s/docs; cd s; printf 'one\\nTODO: two\\n' > src/a.py; printf 'todo three' > docs/b.md; printf 'TODO\\0' > src/bin; echo TODO > src/.git/x; printf 'ü TODO' > src/é.py",
    )
    const found = async (input: Fields) =>
      ((await of(search({ path: 's', ...input }), 'matches')) as Fields[]).map(({ path, line, column }) =>
        [String(path).slice(13), line, column].filter((part) => part !== undefined).join(':'),
      )
    expect(await found({ pattern: '**/*.py' })).toEqual(['src/a.py', 'src/é.py'])
    expect(await found({ pattern: '*.py' })).toEqual([])
    expect(await found({ pattern: '{docs,src}/[!b]*' })).toEqual(['src/a.py', 'src/é.py'])
    expect(await found({ query: 'TODO' })).toEqual(['src/a.py:2:1', 'src/é.py:1:3'])
    expect(await found({ query: 'todo', case_sensitive: false })).toEqual([
      'docs/b.md:1:1',
      'src/a.py:2:1',
      'src/é.py:1:3',
    ])
    expect(await found({ query: '^T.*o$', regex: true, pattern: '**/*.py' })).toEqual(['src/a.py:2:1'])
    expect(await found({ query: 'TODO', show_hidden: true })).toContain('src/.git/x:1:1')
    expect(await search({ path: 's', query: 'TODO' })).toMatchObject({
      files_scanned: 3,
      files_skipped: 1,
      truncated: false,
    })
    expect(await search({ path: 's', query: 'TODO', max_results: 1 })).toMatchObject({
      truncated: true,
      matches: [{ text: 'TODO: two', type: 'file' }],
    })
    await sh(`cd s; head -c 50000 /dev/zero | tr '\\0' a > src/long; printf '${'a'.repeat(200)}' > ${'a'.repeat(200)}`)
    expect(await found({ query: '(a*)*b', regex: true })).toEqual([])
    expect(await found({ pattern: `${'*a'.repeat(60)}b` })).toEqual([])
    const [long] = (await of(search({ path: 's', query: 'a', pattern: 'src/long' }), 'matches')) as Fields[]
    expect(long!['text']).toHaveLength(500)
    await refused(search({ path: 's', query: '(', regex: true }), 'invalid_request', 400)
    await refused(search({ path: 's', query: '(?=a)', regex: true }), 'invalid_request', 400)
    await refused(search({ path: 's' }), 'invalid_request', 400)
    await refused(search({ path: 's/src/a.py', query: 'x' }), 'not_a_directory', 400)
  })

  test('returns facts of a file with its checksum, of a link, or of its target', async () => {
    await sh('printf abc > known; ln -sf known alias')
    const known = await info({ path: 'known', checksum: true })
    expect(fileInfo.safeParse(known).error).toBeUndefined()
    expect(known).toMatchObject({
      name: 'known',
      type: 'file',
      size: 3,
      sha256: createHash('sha256').update('abc').digest('hex'),
    })
    expect(await info({ path: 'alias' })).toMatchObject({ type: 'symlink', symlink_target: 'known' })
    expect(await info({ path: 'alias', follow_symlinks: true })).toMatchObject({ type: 'file', size: 3 })
    expect(await info({ path: '/' })).toMatchObject({ name: '/', path: '/', type: 'directory' })
    await refused(info({ path: 'unknown' }), 'file_not_found', 404)
  })

  test('deletes a link without its target, folders only with recursive, and never folders of the container', async () => {
    await sh('mkdir -p full/of; touch full/of/it target; ln -sf target arrow')
    expect(await remove({ path: 'arrow' })).toEqual({ path: '/workspace/arrow', deleted: 1 })
    expect(await info({ path: 'target' })).toMatchObject({ type: 'file' })
    await refused(remove({ path: 'full' }), 'not_empty', 409)
    expect(await remove({ path: 'full', recursive: true })).toMatchObject({ deleted: 3 })
    await refused(remove({ path: 'full' }), 'file_not_found', 404)
    expect(await remove({ path: 'full', missing_ok: true })).toMatchObject({ deleted: 0 })
    for (const path of ['/', '/workspace', '/output', '/tmp'])
      await refused(remove({ path, recursive: true }), 'protected_path', 400)
    await refused(remove({ path: '/etc/passwd' }), 'permission_denied', 403)
  })

  test('copies with modes and links, and replaces files only with overwrite', async () => {
    await sh(
      'mkdir -p from/in; printf abc > from/in/file; chmod 711 from/in/file; ln -s file from/in/link; echo x > there',
    )
    expect(await copy({ src: 'from', dest: 'copied' })).toEqual({
      source: '/workspace/from',
      destination: '/workspace/copied',
      entries: 4,
      bytes: 3,
    })
    expect((await sh('stat -c %a copied/in/file; readlink copied/in/link')).stdout).toBe('711\nfile\n')
    await refused(copy({ from: 'from/in/file', to: 'there' }), 'already_exists', 409)
    expect(await copy({ source: 'from/in/file', destination: 'there', overwrite: true })).toMatchObject({ bytes: 3 })
    await refused(copy({ source: 'from', destination: 'from/in/deeper' }), 'invalid_request', 400)
    await refused(copy({ source: 'from', destination: 'other', recursive: false }), 'is_a_directory', 400)
    await refused(copy({ source: 'none', destination: 'other' }), 'file_not_found', 404)
    await refused(copy({ source: 'there', destination: '/etc/there' }), 'permission_denied', 403)
    await refused(copy({ source: 'there' }), 'invalid_request', 400)
  })

  test('moves across mounts, all or nothing', async () => {
    await sh('mkdir -p moved/in; printf abc > moved/in/file')
    expect(await move({ from: 'moved', to: '/tmp/moved' })).toMatchObject({
      source: '/workspace/moved',
      destination: '/tmp/moved',
      entry: { type: 'directory', path: '/tmp/moved', name: 'moved' },
    })
    expect((await sh('cat /tmp/moved/in/file; test -e moved || echo gone')).stdout).toBe('abcgone\n')
    await sh('echo a > one; echo b > two')
    await refused(move({ source: 'one', destination: 'two' }), 'already_exists', 409)
    expect(await move({ source: 'one', destination: 'two', overwrite: true })).toMatchObject({ entry: { size: 2 } })
    await refused(move({ source: 'one', destination: 'three' }), 'file_not_found', 404)
    await refused(move({ source: '/tmp/moved', destination: '/tmp/moved/in/x' }), 'invalid_request', 400)
  })

  test('creates folders with their parents, or fails if an entry is in the way', async () => {
    expect(await mkdir({ path: 'm/n/o', mode: '0700' })).toEqual({ path: '/workspace/m/n/o', created: true })
    expect(await mkdir({ path: 'm/n/o' })).toMatchObject({ created: false })
    await refused(mkdir({ path: 'm/n/o', parents: false }), 'already_exists', 409)
    await refused(mkdir({ path: 'x/y', parents: false }), 'file_not_found', 404)
    await sh('touch file-in-the-way')
    await refused(mkdir({ path: 'file-in-the-way' }), 'already_exists', 409)
  })

  const get = (query: string, headers: Record<string, string> = {}, method = 'GET') =>
    given
      .transport()
      .send({ method, path: `/shell/fs/raw?session_id=${given.id()}&${query}`, headers: { accept: '*/*', ...headers } })

  test('uploads and downloads files of any size unchanged', async () => {
    const content = randomBytes(20_000_000)
    async function* pieces() {
      for (let at = 0; at < content.length; at += 700_000) yield content.subarray(at, at + 700_000)
    }
    const input = { session_id: given.id(), path: 'raw/big.bin', mode: '0640' }
    expect(await upload(given.transport(), 'PUT /shell/fs/raw', input, pieces())).toMatchObject({
      size: 20_000_000,
      created: true,
      mode: '0640',
    })
    const { bytes, headers } = await download(given.transport(), 'GET /shell/fs/raw', {
      session_id: given.id(),
      path: 'raw/big.bin',
    })
    const chunks: Uint8Array[] = []
    for await (const chunk of bytes) chunks.push(chunk)
    expect(Buffer.concat(chunks).equals(content)).toBe(true)
    expect(headerOf({ headers }, 'content-length')).toBe('20000000')
    expect((await sh('sha256sum raw/big.bin')).stdout).toContain(createHash('sha256').update(content).digest('hex'))
  })

  test('an aborted upload keeps the old content', async () => {
    await write({ path: 'precious', content: 'old' })
    async function* broken() {
      yield Buffer.alloc(500_000)
      throw new Error('the cable')
    }
    const input = { session_id: given.id(), path: 'precious' }
    expect(
      await upload(given.transport(), 'PUT /shell/fs/raw', input, broken()).catch((error: unknown) => error),
    ).toBeInstanceOf(Error)
    expect(await of(read({ path: 'precious' }), 'content')).toBe('old')
  })

  test('downloads support ranges, conditional requests and HEAD', async () => {
    await write({ path: 'part', content: '0123456789' })
    const whole = await get('path=part')
    const etag = String(headerOf(whole, 'etag'))
    expect(await whole.text()).toBe('0123456789')
    expect(headerOf(whole, 'x-content-type-options')).toBe('nosniff')
    for (const [range, text, shown] of [
      ['bytes=2-4', '234', '2-4'],
      ['bytes=7-', '789', '7-9'],
      ['bytes=-3', '789', '7-9'],
      ['bytes=8-99', '89', '8-9'],
    ] as const) {
      const part = await get('path=part', { range })
      expect([part.status, await part.text(), headerOf(part, 'content-range')]).toEqual([
        206,
        text,
        `bytes ${shown}/10`,
      ])
    }
    const beyond = await get('path=part', { range: 'bytes=10-' })
    expect([beyond.status, headerOf(beyond, 'content-range')]).toEqual([416, 'bytes */10'])
    expect(JSON.parse(await beyond.text())).toMatchObject({ code: 'range_not_satisfiable' })
    for (const range of ['bytes=1-2,4-5', 'bytes=5-2', 'items=1-2'])
      expect((await get('path=part', { range })).status).toBe(200)
    expect((await get('path=part', { 'if-none-match': etag })).status).toBe(304)
    expect((await get('path=part', { range: 'bytes=0-1', 'if-range': '"other"' })).status).toBe(200)
    const head = await get('path=part', {}, 'HEAD')
    expect([head.status, await head.text(), headerOf(head, 'content-length'), headerOf(head, 'etag')]).toEqual([
      200,
      '',
      '10',
      etag,
    ])
    await write({ path: 'part', content: '0123456780' })
    expect((await get('path=part', { 'if-none-match': etag })).status).toBe(200)
    expect((await get('path=/workspace')).status).toBe(400)
    expect((await get('path=none')).status).toBe(404)
  })
})

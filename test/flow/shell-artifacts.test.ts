import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { artifact as artifactShape, type Artifact } from '../../src/core/shapes/shell/artifacts.ts'
import { createEngine } from '../../src/engine/index.ts'
import { callOf } from '../support/call.ts'
import { headerOf } from '../support/headers.ts'
import { failureOf } from '../support/session-steps.ts'
import { inEveryShell } from '../support/shell.ts'
import { waitUntil } from '../support/wait.ts'

inEveryShell((given) => {
  const list = async (session_id: string): Promise<Artifact[]> =>
    (await given.client().listArtifacts({ session_id, limit: 1000 })).artifacts
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    given.transport().send({ method, path, headers: { accept: '*/*', ...headers } })
  const bytesAt = async (path: string) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of (await get(path)).stream()) chunks.push(chunk)
    return Buffer.concat(chunks)
  }
  const own = async (input: Record<string, unknown> = {}) => {
    const { session_id } = await given.create(input)
    return {
      session_id,
      run: (command: string) => given.sh(command, { session_id }),
      end: () => given.client().deleteShell({ session_id }),
    }
  }
  const named = ({ files }: Artifact) => files.map(({ name, change }) => `${change} ${name}`)

  test('new, changed and deleted files form the artifact of a command; without changes there is none', async () => {
    const { session_id, run, end } = await own()
    expect((await run('echo elsewhere > /workspace/x; cat /output/* 2>/dev/null')).artifact_id).toBeNull()
    const first = await run('mkdir -p /output/plots; printf abc > /output/plots/a.png; echo b > /output/b.txt')
    expect((await run('ls -R /output')).artifact_id).toBeNull()
    const second = await run('printf abcd > /output/plots/a.png; rm /output/b.txt; touch /output/.hidden')
    expect((await run('cat /output/plots/a.png > /tmp/x; cat /tmp/x > /output/plots/a.png')).artifact_id).toBeNull()
    const [a, b, ...more] = await list(session_id)
    expect(more).toEqual([])
    expect(artifactShape.strict().safeParse(a).error).toBeUndefined()
    expect(a).toMatchObject({
      id: first.artifact_id,
      artifact_id: first.artifact_id,
      session_id,
      exec_id: first.exec_id,
      mount: '/output',
      complete: true,
      total_bytes: 5,
      deleted: [],
      skipped: [],
    })
    expect(named(a!)).toEqual(['created b.txt', 'created plots/a.png'])
    expect(a!.files[1]).toMatchObject({
      path: '/output/plots/a.png',
      size: 3,
      content_type: 'image/png',
      mode: '0644',
      unstable: false,
      sha256: createHash('sha256').update('abc').digest('hex'),
      url: `/shell/artifacts/${a!.id}/files/plots%2Fa.png`,
    })
    expect(b).toMatchObject({ exec_id: second.exec_id, deleted: ['b.txt'], complete: true })
    expect(named(b!)).toEqual(['created .hidden', 'modified plots/a.png'])
    // Later changes do not affect stored artifacts.
    expect((await bytesAt(a!.files[1]!.url)).toString()).toBe('abc')
    expect((await bytesAt(b!.files[1]!.url)).toString()).toBe('abcd')
    expect((await given.client().getShell({ session_id })).artifact_count).toBe(2)
    expect(await given.client().getArtifact({ artifact_id: a!.id })).toEqual(a)
    await end()
    expect(await list(session_id)).toEqual([a, b])
  })

  test('files of background processes are captured when the session ends', async () => {
    const { session_id, run, end } = await own()
    await run(
      '(until test -e /workspace/go; do sleep 0.05; done; echo late > /output/late; touch /workspace/done) & true',
    )
    await given.client().writeShellFile({ session_id, path: 'go', content: '' })
    await waitUntil(async () => (await given.client().listShellFiles({ session_id })).total === 2)
    await end()
    const [last] = await list(session_id)
    expect(last).toMatchObject({ exec_id: null, files: [{ name: 'late', size: 5 }] })
  })

  test('links, fifos, sockets, a sparse terabyte and unreadable files are skipped with the reason', async () => {
    const { session_id, run, end } = await own()
    const { artifact_id } = await run(
      'cd /output; ln -s /etc/passwd link; ln -s . loop; mkfifo fifo; dd if=/dev/zero of=sparse bs=1 count=0 seek=1099511627776; echo x > closed; chmod 000 closed; mkdir shut; touch shut/in; chmod 000 shut; echo good > good',
    )
    const [found] = await list(session_id)
    expect(found).toMatchObject({ id: artifact_id, complete: false })
    expect(named(found!)).toEqual(['created good'])
    expect(Object.fromEntries(found!.skipped.map(({ name, reason }) => [name, reason]))).toEqual({
      link: 'symlink',
      loop: 'symlink',
      fifo: 'not_a_file',
      sparse: 'file_too_large',
      closed: 'unreadable',
      shut: 'unreadable',
    })
    expect(found!.skipped.find(({ name }) => name === 'sparse')!.size).toBe(2 ** 40)
    expect((await run('true')).artifact_id).toBeNull()
    await run('chmod 700 /output/shut')
    await end()
    const linkOnly = await own()
    await linkOnly.run('ln -s a /output/only')
    expect((await list(linkOnly.session_id))[0]).toMatchObject({
      complete: true,
      files: [],
      skipped: [{ name: 'only', reason: 'symlink' }],
    })
    await linkOnly.end()
  })

  test('hostile file names are harmless', async () => {
    const { session_id, run, end } = await own()
    await run(
      `cd /output; mkdir -p '..a' 'x;rm -rf'; printf 1 > '..a/..%2f..%2fetc'; printf 2 > 'x;rm -rf/"quo\\te'; printf 3 > "$(printf 'new\\nline')"; printf 4 > "$(printf 'bytes\\377')"; printf 5 > 'ünï?#.txt'; printf 6 > '<b>.html'; printf 7 > p.svg`,
    )
    const [found] = await list(session_id)
    expect(found!.files).toHaveLength(7)
    for (const file of found!.files) expect((await bytesAt(file.url)).length, file.name).toBe(1)
    const bytes = found!.files.find(({ name_b64 }) => name_b64 !== undefined)!
    expect(bytes).toMatchObject({
      name: 'bytes\ufffd',
      name_b64: Buffer.from('bytes\xff', 'latin1').toString('base64'),
      url: `/shell/artifacts/${found!.id}/files/bytes%FF`,
    })
    for (const [name, type] of [
      ['<b>.html', 'text/html'],
      ['p.svg', 'image/svg+xml'],
    ] as const) {
      const file = found!.files.find((item) => item.name === name)!
      expect(file.content_type).toBe(type)
      const answer = await get(file.url)
      expect(headerOf(answer, 'content-type')).toBe('application/octet-stream')
      await answer.text()
    }
    const raw = `/shell/artifacts/${found!.id}/files`
    for (const name of [
      '..',
      '%2e%2e',
      '../session.json',
      '..%2Fsession.json',
      '..%2f..%2f..%2fetc%2fpasswd',
      '%2Fetc%2Fpasswd',
      'x',
      'p.svg%00',
      '..a',
      '%',
    ])
      expect([404, 405], name).toContain((await get(`${raw}/${name}`)).status)
    expect(await bytesAt(`${raw}/x%3Brm%20-rf/%22quo%5Cte`)).toHaveLength(1)
    await end()
  })

  test('a download has a safe type, and supports ranges and conditional requests', async () => {
    const { session_id, run, end } = await own()
    await run("printf 0123456789 > '/output/rep ort.txt'; : > /output/empty")
    const [found] = await list(session_id)
    const [empty, report] = found!.files
    const whole = await get(report!.url)
    expect(await whole.text()).toBe('0123456789')
    expect(
      [
        'content-length',
        'content-type',
        'etag',
        'accept-ranges',
        'x-content-type-options',
        'content-security-policy',
        'content-disposition',
      ].map((name) => headerOf(whole, name)),
    ).toEqual([
      '10',
      'text/plain',
      `"${report!.sha256}"`,
      'bytes',
      'nosniff',
      'sandbox',
      "attachment; filename*=UTF-8''rep%20ort.txt",
    ])
    const part = await get(report!.url, { range: 'bytes=3-5' })
    expect([part.status, await part.text(), headerOf(part, 'content-range')]).toEqual([206, '345', 'bytes 3-5/10'])
    expect((await get(report!.url, { 'if-none-match': `"${report!.sha256}"` })).status).toBe(304)
    const head = await get(report!.url, {}, 'HEAD')
    expect([head.status, await head.text(), headerOf(head, 'content-length')]).toEqual([200, '', '10'])
    const nothing = await get(empty!.url)
    expect([nothing.status, await nothing.text()]).toEqual([200, ''])
    expect((await get('/shell/artifacts/art_none/files/a')).status).toBe(404)
    expect(await failureOf(given.client().getArtifact({ artifact_id: 'art_../..' }))).toMatchObject({
      code: 'artifact_not_found',
    })
    await end()
  })

  test('identical bytes are stored once, and a session has a quota', async () => {
    const { session_id, run, end } = await own()
    await run('cd /output; head -c 1000000 /dev/zero > a; cp a b; cp a c')
    const blobs = join(given.homes().stateDir, 'artifacts', session_id, 'blobs')
    expect(await readdir(blobs)).toHaveLength(1)
    await run('cd /output; rm *; i=0; while [ $i -lt 2100 ]; do : > f$i; i=$((i+1)); done')
    const [, many] = await list(session_id)
    expect(many!.files).toHaveLength(1997)
    expect(many).toMatchObject({ complete: false, deleted: ['a', 'b', 'c'] })
    expect(many!.skipped).toHaveLength(103)
    expect(new Set(many!.skipped.map(({ reason }) => reason))).toEqual(new Set(['file_count']))
    await end()
  })

  test('several mounts form one artifact with names relative to the root', async () => {
    const { session_id, run, end } = await own({ output_mounts: ['/output', '/plots'] })
    await run('echo a > /output/same; echo b > /plots/same')
    const [found] = await list(session_id)
    expect(found).toMatchObject({
      mount: '/',
      files: [
        { name: 'output/same', path: '/output/same' },
        { name: 'plots/same', path: '/plots/same' },
      ],
    })
    await end()
  })

  test('a file that is constantly swapped for a link never leads out of its mount', async () => {
    const { session_id, run, end } = await own()
    await run(
      '(cd /output; while :; do echo inside > f; mv f x; ln -s /etc/passwd f; rm -f x; mv f x; rm -f x; done) > /dev/null 2>&1 &',
    )
    for (let round = 0; round < 20; round += 1) await run('true')
    await end()
    const files = (await list(session_id)).flatMap((artifact) => artifact.files)
    for (const { url } of files) expect(['', 'inside\n']).toContain((await bytesAt(url)).toString())
  })

  test('the list is paginated, and outlives its session and its engine', async () => {
    const { session_id, run, end } = await own()
    for (const name of ['1', '2', '3']) await run(`echo ${name} > /output/${name}`)
    await end()
    const first = await given.client().listArtifacts({ session_id, limit: 2 })
    const second = await given.client().listArtifacts({ session_id, limit: 2, cursor: first.next_cursor! })
    expect([...first.artifacts, ...second.artifacts].map(({ files }) => files[0]!.name)).toEqual(['1', '2', '3'])
    expect(second.next_cursor).toBeNull()
    expect(await failureOf(given.client().listArtifacts({ session_id, cursor: 'x' }))).toMatchObject({
      code: 'invalid_request',
    })
    const { stateDir } = given.homes()
    const restarted = createEngine({
      home: 'server',
      stateDir,
      cacheDir: stateDir,
      display: false,
      writeAnywhere: true,
      log: () => {},
    })
    expect((await restarted.shells.artifacts.list({ session_id, limit: 10 }, callOf())).artifacts).toHaveLength(3)
    await restarted.close()
    const none = await own()
    expect(await list(none.session_id)).toEqual([])
    await none.end()
  })
})

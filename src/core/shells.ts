/** The interfaces of an engine for shell sessions. */
import type { Call, Content, Frame, StreamCall } from './operation/call.ts'
import type { Artifact, ArtifactList, ArtifactListInput } from './shapes/shell/artifacts.ts'
import type * as exec from './shapes/shell/exec.ts'
import type * as files from './shapes/shell/files.ts'
import type { RawFile, UploadInput } from './shapes/shell/transfers.ts'
import type { ShellImageBuild, ShellImageRecord } from './shapes/shell/images.ts'
import type { ShellKill, ShellList, ShellListInput, ShellSession, ShellSessionInput } from './shapes/shell/session.ts'

export interface Shells {
  readonly sessions: ShellSessions
  readonly execs: ShellExecs
  readonly files: ShellFiles
  readonly artifacts: ShellArtifacts
  readonly images: ShellImages
}

/** Session IDs may also be names of live sessions. */
interface ShellSessions {
  /** Creates a session with a running container, and removes it when the caller disconnects. */
  create(input: ShellSessionInput, call: Call): Promise<ShellSession>
  list(input: ShellListInput, call: Call): Promise<ShellList>
  get(sessionId: string, call: Call): Promise<ShellSession>
  /** Restarts the idle timeout, with a new length in seconds if given. */
  touch(sessionId: string, timeoutSecs: number | undefined, call: Call): Promise<ShellSession>
  /** Kills all processes of the session and returns their number; its files are kept. */
  kill(sessionId: string, call: Call): Promise<ShellKill>
  /** Deletes a session when this and all its other leases have ended for `graceSecs`. */
  lease(sessionId: string, graceSecs: number, call: StreamCall): Promise<AsyncIterable<Frame>>
  /** Resolves once the container is removed; does nothing for a stopped session. */
  delete(sessionId: string, call: Call): Promise<void>
}

interface ShellExecs {
  /** Runs a command to its end or starts it in the background. Kills one whose awaiting caller disconnects. */
  run(input: exec.ExecInput, call: Call): Promise<exec.ExecAnswer>
  stream(input: exec.ExecStreamInput, call: StreamCall): Promise<AsyncIterable<Frame>>
  /** Streams the frames of a command that continues without its first reader. */
  follow(execId: string, call: StreamCall): Promise<AsyncIterable<Frame>>
  get(execId: string, call: Call): Promise<exec.ExecRecord>
  signal(input: exec.SignalInput, call: Call): Promise<void>
  /** Resolves when the program has room for more input. @throws BaxError `conflict` when it no longer reads. */
  write(input: exec.StdinInput, call: Call): Promise<void>
  resize(input: exec.ResizeInput, call: Call): Promise<void>
}

interface ShellFiles {
  read(input: files.ReadInput, call: Call): Promise<files.ReadOutput>
  write(input: files.WriteInput, call: Call): Promise<files.WriteOutput>
  list(input: files.ListInput, call: Call): Promise<files.ListOutput>
  tree(input: files.TreeInput, call: Call): Promise<files.TreeOutput>
  search(input: files.SearchInput, call: Call): Promise<files.SearchOutput>
  info(input: files.InfoInput, call: Call): Promise<files.InfoOutput>
  delete(input: files.DeleteInput, call: Call): Promise<files.DeleteOutput>
  copy(input: files.CopyInput, call: Call): Promise<files.CopyOutput>
  move(input: files.MoveInput, call: Call): Promise<files.MoveOutput>
  mkdir(input: files.MkdirInput, call: Call): Promise<files.MkdirOutput>
  open(input: RawFile, call: Call): Promise<Content>
  receive(input: UploadInput, body: AsyncIterable<Uint8Array>, call: Call): Promise<files.WriteOutput>
}

interface ShellArtifacts {
  /** Includes artifacts of stopped sessions and of earlier engines. */
  list(input: ArtifactListInput, call: Call): Promise<ArtifactList>
  /** @throws BaxError `artifact_not_found`. */
  get(artifactId: string, call: Call): Promise<Artifact>
  /** `name` is percent-encoded. @throws BaxError `artifact_not_found`. */
  open(artifactId: string, name: string, call: Call): Promise<Content>
}

interface ShellImages {
  list(): Promise<ShellImageRecord[]>
  /** Builds one of bax's own images and streams its progress. */
  build(input: ShellImageBuild, call: StreamCall): Promise<AsyncIterable<Frame>>
}

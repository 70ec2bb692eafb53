/** Shapes of artifacts: files that commands write to the output mounts of a shell session. */
import { z } from 'zod'
import { limits } from '../../limits/limits.ts'
import { identifier, integer, named, opaqueText } from '../fields.ts'

const isoTime = z.iso.datetime()

const artifactFile = z.object({
  name: z.string().describe('Path below the mount'),
  path: z.string(),
  name_b64: z.string().optional().describe('Name in base64, if it is not UTF-8'),
  size: z.int(),
  sha256: z.string(),
  content_type: z.string(),
  change: z.enum(['created', 'modified']),
  mode: z.string(),
  modified_at: isoTime,
  unstable: z.boolean().describe('Whether it changed while it was read'),
  url: z.string().describe('Path to download it from'),
})

const skipReasons = [
  'symlink',
  'not_a_file',
  'file_too_large',
  'session_quota',
  'file_count',
  'unreadable',
  'vanished',
  'too_deep',
] as const

const skippedFile = z.object({
  name: z.string(),
  reason: z.enum(skipReasons),
  size: z.int().optional(),
  name_b64: z.string().optional().describe('Name in base64, if it is not UTF-8'),
})

export const artifact = named('Artifact', {
  id: z.string(),
  artifact_id: z.string().describe('Same as id'),
  session_id: z.string(),
  exec_id: z.string().nullable().describe('null for files captured when the session ended'),
  created_at: isoTime,
  mount: z.string(),
  complete: z.boolean().describe('Whether it contains everything in the mount, except symbolic links'),
  total_bytes: z.int(),
  files: z.array(artifactFile),
  deleted: z.array(z.string()).describe('Files of earlier artifacts that no longer exist'),
  skipped: z.array(skippedFile).describe('Files that were not captured'),
})

export const artifactListInput = z.object({
  session_id: identifier.describe('Shell session id'),
  limit: integer(1, 1000).default(limits.artifacts.listed).describe('Maximum number of artifacts per response'),
  cursor: opaqueText.optional().describe('next_cursor of the previous response'),
})

export const artifactList = z.object({
  session_id: z.string(),
  artifacts: z.array(artifact),
  next_cursor: z.string().nullable(),
  warning: z.string().optional(),
})

export type Artifact = z.output<typeof artifact>
export type ArtifactFile = z.output<typeof artifactFile>
export type SkippedFile = z.output<typeof skippedFile>
export type SkipReason = (typeof skipReasons)[number]
export type ArtifactListInput = z.output<typeof artifactListInput>
export type ArtifactList = z.output<typeof artifactList>

/** What the bytes are; a name says nothing. Undefined: none that models see. */
export function imageKind(bytes: Uint8Array): string | undefined {
  const begin = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (begin.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (begin.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(begin)) return 'image/gif';
  return /^RIFF.{4}WEBP$/s.test(begin) ? 'image/webp' : undefined;
}

import { CompactEncrypt, compactDecrypt } from 'jose';

const ALGORITHM = 'dir';
const ENCRYPTION = 'A256GCM';

/** Makes texts unreadable for whoever has the store without the key: JSON Web Encryption (RFC 7516), AES-256-GCM. */
export class Sealer {
  /** `key`: 32 bytes. */
  constructor(private readonly key: Uint8Array) {}

  /** `what` is bound to it: what was sealed as one thing opens as no other. */
  seal(what: string, text: string): Promise<string> {
    return new CompactEncrypt(Buffer.from(text))
      .setProtectedHeader({ alg: ALGORITHM, enc: ENCRYPTION, kid: what })
      .encrypt(this.key);
  }

  /** Rejects when it was sealed with another key, as another thing, or was changed. */
  async unseal(what: string, sealed: string): Promise<string> {
    const { plaintext, protectedHeader } = await compactDecrypt(sealed, this.key, {
      keyManagementAlgorithms: [ALGORITHM],
      contentEncryptionAlgorithms: [ENCRYPTION],
    });
    if (protectedHeader.kid !== what) throw new Error(`It was sealed as "${protectedHeader.kid}".`);
    return Buffer.from(plaintext).toString('utf8');
  }
}

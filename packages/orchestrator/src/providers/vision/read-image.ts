import { messageOf } from '@mcpbridge/shared/errors.js';
import { READ_IMAGE } from '@mcpbridge/shared/platform-tools.js';
import { textResult } from '@mcpbridge/shared/tools.js';
import type { FunctionTool } from '../function-provider.js';
import { abortSignalOf } from '../mcp/abort.js';
import type { ProviderCall } from '../provider.js';
import { imageKind } from './image-kind.js';
import { askAbout, type VisionSettings } from './vision-model.js';

const MAX_BYTES = 20 * 1024 * 1024;
const QUESTION = 'Describe this image, with all text in it.';

/** A picture of the workspace: what a model that sees says of it, or, where none is set, the picture itself. */
export function readImage(
  vision: VisionSettings | undefined,
  read: (call: ProviderCall, path: string) => Promise<Buffer>,
): FunctionTool {
  return {
    definition: READ_IMAGE,
    async run(call) {
      // The schema has been checked.
      const { filepath, query, model_id } = call.args as {
        filepath: string;
        query?: string;
        model_id?: string;
      };
      const bytes = await read(call, filepath);
      const mimeType = imageKind(bytes);
      if (!mimeType) return textResult(`"${filepath}" is no PNG, JPEG, GIF or WebP image.`, true);
      if (bytes.length > MAX_BYTES)
        return textResult(`"${filepath}" has ${bytes.length} bytes; at most ${MAX_BYTES} can be read.`, true);
      const base64 = bytes.toString('base64');
      if (!vision) return { content: [{ type: 'image', data: base64, mimeType }] };
      const asked = model_id ? { ...vision, model: model_id } : vision;
      try {
        const picture = { mimeType, base64 };
        return textResult(await askAbout(asked, picture, query || QUESTION, abortSignalOf(call.signal)));
      } catch (error) {
        return textResult(messageOf(error), true);
      }
    },
  };
}

import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { copyText } from './clipboard';

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await copyText(text);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <button type="button" className="button quiet" onClick={copy}>
      {done ? (
        <Check size={16} strokeWidth={1.5} aria-hidden />
      ) : (
        <Copy size={16} strokeWidth={1.5} aria-hidden />
      )}
      {done ? 'Copied' : label}
    </button>
  );
}

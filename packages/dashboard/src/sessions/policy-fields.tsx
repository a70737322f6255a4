import type { Policy } from '../tools/patterns';

export interface PolicyText {
  allow: string;
  deny: string;
  approve: string;
  ttl: string;
}

export const EMPTY_POLICY: PolicyText = { allow: '', deny: '', approve: '', ttl: '' };

export function textOf(policy: Policy | undefined): PolicyText {
  const { allow = [], deny = [], approve = [] } = policy?.tools ?? {};
  return { allow: allow.join('\n'), deny: deny.join('\n'), approve: approve.join('\n'), ttl: '' };
}

const lines = (text: string) =>
  text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter(Boolean);

/** No pattern of `allow` means all tools. */
export function toolsOf({ allow, deny, approve }: PolicyText): NonNullable<Policy['tools']> {
  const lists = { allow: lines(allow), deny: lines(deny), approve: lines(approve) };
  return Object.fromEntries(Object.entries(lists).filter(([, patterns]) => patterns.length > 0));
}

const FIELDS: [keyof Omit<PolicyText, 'ttl'>, string, string][] = [
  ['allow', 'May call', 'all tools; for example github__*, fs/read_*, *@readOnlyHint'],
  ['deny', 'May not call', 'for example *delete*'],
  ['approve', 'Needs a yes for', 'for example shell__*, *@destructiveHint'],
];

interface PolicyFieldsProps {
  value: PolicyText;
  onChange(next: PolicyText): void;
  /** Whoever may do everything has an end alone. */
  isOnlyEnd?: boolean;
  /** What an empty end means. */
  noEnd?: string;
}

/** Patterns, one a line. */
export function PolicyFields({ value, onChange, isOnlyEnd = false, noEnd = 'as it is' }: PolicyFieldsProps) {
  return (
    <div className="stack">
      {(isOnlyEnd ? [] : FIELDS).map(([key, label, hint]) => (
        <label key={key}>
          <span className="label">{label}</span>
          <textarea
            className="field mono"
            rows={Math.max(2, value[key].split('\n').length)}
            placeholder={hint}
            spellCheck={false}
            value={value[key]}
            onChange={(event) => onChange({ ...value, [key]: event.target.value })}
          />
        </label>
      ))}
      <label>
        <span className="label">Ends after</span>
        <input
          className="field find-line"
          placeholder={`8h, 30m; empty: ${noEnd}`}
          value={value.ttl}
          onChange={(event) => onChange({ ...value, ttl: event.target.value })}
        />
      </label>
    </div>
  );
}

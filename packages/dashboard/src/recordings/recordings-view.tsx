import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Upload } from 'lucide-react';
import { type ChangeEvent, useRef, useState } from 'react';
import { useAddress } from '../address/address';
import { messageOf, send } from '../net/request';
import { useTitle } from '../shell/title';
import { inert } from '../text/inert';
import { bytes, shortTime, wholeTime } from '../text/units';
import { type Column, PickTable } from '../ui/pick-table';
import { SplitList } from '../ui/split-list';
import { Empty, Failure, Loading } from '../ui/states';
import { RecordingDetail } from './recording-detail';
import { type ListedRecording, useRecordings } from './use-recordings';

const COLUMNS: Column<ListedRecording>[] = [
  {
    title: 'Recording',
    cell: ({ name, running }) => (
      <>
        <Link className="plain" to={`/recordings/${encodeURIComponent(name)}` as never}>
          {inert(name.replace(/\.jsonl$/, ''))}
        </Link>
        {running === undefined ? null : <span className="tag run">recording</span>}
      </>
    ),
  },
  {
    title: 'Last written',
    hint: ({ recordedAt }) => wholeTime(Date.parse(recordedAt)),
    cell: ({ recordedAt }) => shortTime(Date.parse(recordedAt)),
  },
  { title: 'Size', isNumber: true, cell: (recording) => bytes(recording.bytes) },
];

/** Sessions that were written down: to be looked at, made again, or served as a stand-in. */
export default function RecordingsView() {
  const { path, search, go } = useAddress();
  const { data, error, refetch } = useRecordings();
  const chosen = path.startsWith('/recordings/')
    ? decodeURIComponent(path.slice('/recordings/'.length))
    : undefined;
  const words = (search.find ?? '').toLowerCase();
  const rows = data?.filter(({ name }) => name.toLowerCase().includes(words)) ?? [];
  useTitle('Recordings');
  return (
    <div className="split">
      <SplitList title="Recordings" find="Find recordings" actions={<Import />}>
        {error && !data ? <Failure error={error} retry={() => void refetch()} /> : null}
        {!data && !error ? <Loading what="recordings" /> : null}
        {data?.length === 0 ? (
          <Empty title="Nothing is recorded yet">
            <p>
              Open one of the <Link to={'/sessions' as never}>Sessions</Link> and record it: every frame and
              every call goes into one file. Or take in a file from elsewhere with Import.
            </p>
          </Empty>
        ) : null}
        {rows.length > 0 ? (
          <PickTable
            columns={COLUMNS}
            rows={rows}
            keyOf={({ name }) => name}
            chosen={chosen}
            onPick={({ name }) => go(`/recordings/${encodeURIComponent(name)}`, search)}
          />
        ) : null}
        {data && data.length > 0 && rows.length === 0 ? <p className="said">No recording fits.</p> : null}
      </SplitList>
      {chosen === undefined ? null : (
        <RecordingDetail
          key={chosen}
          name={chosen}
          listed={data?.find(({ name }) => name === chosen)}
          onClose={() => go('/recordings', search)}
        />
      )}
    </div>
  );
}

function Import() {
  const { go } = useAddress();
  const queries = useQueryClient();
  const field = useRef<HTMLInputElement>(null);
  const [fault, setFault] = useState<string>();
  const take = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const file = target.files?.[0];
    target.value = '';
    if (!file) return;
    try {
      const { name } = await send<{ name: string }>(
        `/api/recordings?name=${encodeURIComponent(nameFor(file.name))}`,
        file,
        'application/jsonl',
      );
      setFault(undefined);
      await queries.invalidateQueries({ queryKey: ['recordings'] });
      go(`/recordings/${encodeURIComponent(name)}`);
    } catch (error) {
      setFault(messageOf(error));
    }
  };
  return (
    <>
      <button type="button" className="button" onClick={() => field.current?.click()}>
        <Upload size={16} strokeWidth={1.5} aria-hidden /> Import…
      </button>
      <input
        ref={field}
        hidden
        type="file"
        accept=".jsonl"
        aria-label="Recording to import"
        onChange={take}
      />
      {fault ? (
        <p className="note err" role="alert">
          {inert(fault)}
        </p>
      ) : null}
    </>
  );
}

/** Other programs give files other names. */
function nameFor(file: string): string {
  const plain = file.replace(/\.jsonl$/, '').replaceAll(/[^\w.=-]/g, '-');
  return `${plain.slice(0, 180) || 'recording'}.jsonl`;
}

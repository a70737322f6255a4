import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { liveLink } from '../address/address';
import { request } from '../net/request';
import { inert } from '../text/inert';
import { shortTime, wholeTime } from '../text/units';
import { Failure, Loading } from '../ui/states';

interface DecidedProposal {
  id: string;
  kind: string;
  callId?: string;
  server: string;
  tool: string;
  state: string;
  by?: string;
  note?: string;
  decidedAt: string;
  createdAt: string;
}

const WORDS: Record<string, string> = {
  accepted: 'approved',
  rejected: 'denied',
  expired: 'expired',
  withdrawn: 'withdrawn',
};

interface DecidedPage {
  proposals: DecidedProposal[];
  /** For the page after this one. */
  next?: number;
}

/** What does not wait any more, latest first, page by page. */
export function Decided({ which }: { which: 'decided' | 'expired' }) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['proposals', which],
    queryFn: ({ pageParam }) =>
      request<DecidedPage>(`/api/proposals?state=${which}${pageParam ? `&before=${pageParam}` : ''}`),
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next,
  });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="decisions" />;
  const proposals = data.pages.flatMap((page) => page.proposals);
  if (proposals.length === 0)
    return (
      <p className="said">
        {which === 'expired' ? 'Nothing has expired.' : 'Nothing was decided yet.'} Calls that were not
        approved: <Link to={liveLink('code:NOT_APPROVED') as never}>in the log</Link>.
      </p>
    );
  return (
    <div className="scroll-x">
      <table className="table">
        <thead>
          <tr>
            <th>Decided</th>
            <th>What</th>
            <th>How</th>
            <th>By</th>
            <th>Note</th>
            <th>Call</th>
          </tr>
        </thead>
        <tbody>
          {proposals.map((proposal) => (
            <tr key={proposal.id}>
              <td title={wholeTime(Date.parse(proposal.decidedAt))}>
                {shortTime(Date.parse(proposal.decidedAt))}
              </td>
              <td className="mono">{inert(`${proposal.server} · ${proposal.tool}`)}</td>
              <td className={proposal.state === 'accepted' ? 'ok-text' : 'deny-text'}>
                {WORDS[proposal.state] ?? proposal.state}
              </td>
              <td>{proposal.by ?? ''}</td>
              <td>{inert(proposal.note ?? '')}</td>
              <td>
                {proposal.callId ? <Link to={`/calls/${proposal.callId}` as never}>its call</Link> : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {hasNextPage ? (
        <button
          type="button"
          className="button"
          disabled={isFetchingNextPage}
          onClick={() => void fetchNextPage()}
        >
          Earlier ones
        </button>
      ) : null}
    </div>
  );
}

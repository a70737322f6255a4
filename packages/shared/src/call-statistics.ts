/** What is summed of calls. Durations are in milliseconds, from classes within 5 %; absent where there are no calls. */
export interface CallSums {
  calls: number;
  ok: number;
  failed: number;
  refused: number;
  cancelled: number;
  /** Failed and refused ones, from 0 to 1. */
  errorShare: number;
  p50?: number | undefined;
  p95?: number | undefined;
  p99?: number | undefined;
  argumentBytes: number;
  resultBytes: number;
  /** Estimated from the bytes of arguments and results. */
  tokens: number;
}

export interface CallStatisticsGroup extends CallSums {
  server?: string;
  tool?: string;
  session?: string;
  client?: string;
  principal?: string;
  code?: string;
}

export interface HistogramBucket extends CallSums {
  /** Its start, in milliseconds since the epoch. */
  at: number;
}

/** `GET /api/stats`. */
export interface CallStatistics {
  since: number;
  until: number;
  by: string;
  total: CallSums;
  /** Most calls first. */
  groups: CallStatisticsGroup[];
  bucketMs: number;
  histogram: HistogramBucket[];
}

-- One request of a job again and again, each with a number of its own.
-- Arguments: the job's file, the first number, and "check" to look into every answer.
local job, number
local threads = {}
-- Global, because done() reads them out of the threads.
wrong, sample = 0, ""

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  job = dofile(args[1])
  number = tonumber(args[2])
  if args[3] == "check" then
    -- Only where wanted: with it wrk parses and copies every answer, which the measured run does without.
    response = function(status, _, body)
      if status ~= 200 or not body:find(job.expects, 1, true) then
        wrong = wrong + 1
        sample = status .. " " .. body:sub(1, 300)
      end
    end
  end
end

-- Seven digits always, so that the content length stays what it is.
function request()
  number = number + 1
  return job.head .. table.concat(job.parts, number)
end

function done(summary, latency)
  local bad = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  for _, thread in ipairs(threads) do
    bad = bad + (thread:get("wrong") or 0)
    sample = thread:get("sample") or ""
  end
  io.write(string.format("\nRESULT %d %d %d %d %d %s\n", summary.requests, summary.duration,
    bad + summary.errors.status, latency:percentile(50), latency:percentile(99), sample:gsub("%s+", " ")))
end

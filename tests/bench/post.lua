-- post.lua -- wrk posts a record: `same` always the one of the file, `changed` another version each time, spread over KEYS names.
-- usage: wrk -s post.lua URL -- FILE same|changed KEYS
local head, tail, changed, keys, n = "", "", false, 1, 0

function init(args)
  local f = assert(io.open(args[1], "rb"))
  local body = f:read("*a")
  f:close()
  changed, keys = args[2] == "changed", tonumber(args[3])
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  wrk.body = body
  -- The record begins {"owner":"o","name":"n", …
  tail = body:sub(#'{"owner":"o","name":"n"' + 1)
  n = os.time() % 100000 * 1000000
end

function request()
  if not changed then return wrk.format() end
  n = n + 1
  local name = keys == 1 and "n" or "n" .. n % keys
  return wrk.format(nil, nil, nil, '{"owner":"o","name":"' .. name .. '","version":"' .. n .. '"' .. tail)
end

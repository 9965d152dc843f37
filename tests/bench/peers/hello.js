// hello.js -- the smallest Node server: the peer for cold start and for requests per second.
'use strict';
require('http').createServer((req, res) => {
  const body = '{"ok":true}';
  res.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length });
  res.end(body);
}).listen(+process.env.FUNCTIONS_CUSTOMHANDLER_PORT, '127.0.0.1', 1024);

// Preloaded into supergateway, which has no option for it: listens on 127.0.0.1 instead of on every interface.
const { Server } = require('node:net');

const listen = Server.prototype.listen;
Server.prototype.listen = function (port, ...rest) {
  return typeof port === 'number'
    ? listen.call(this, { port, host: '127.0.0.1' }, ...rest)
    : listen.call(this, port, ...rest);
};

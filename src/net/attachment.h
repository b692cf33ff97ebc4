// What a socket may have besides its descriptor: a layer that changes its bytes (socket.h), or the
// ring that receives them (ring.h). Never both, so that a socket at rest pays for one pointer.
#pragma once

namespace headrace::net {

class Attachment {
 public:
  virtual ~Attachment() = default;
};

}  // namespace headrace::net

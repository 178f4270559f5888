/* SPDX-License-Identifier: Apache-2.0
 *
 * The application "rpc": microTVM's RPC server on the console. It is for the bench: whoever reaches the line can run the functions of
 * this image. When a host ends the server, it starts afresh and waits for the next one.
 */
#include <tvm/runtime/crt/microtvm_rpc_server.h>
#include <tvm/runtime/crt/platform.h>

#include "kiln_console.h"

static ssize_t write_console(void* context, const uint8_t* data, size_t num_bytes) {
  (void)context;
  for (size_t i = 0; i < num_bytes; ++i) {
    kiln_console_put(data[i]);
  }
  return (ssize_t)num_bytes;
}

/* Serves one host. Returns whether another one may come. */
static int serve(microtvm_rpc_server_t server) {
  for (;;) {
    int received = kiln_console_get();
    if (received < 0) {
      return 0;
    }
    uint8_t byte = (uint8_t)received;
    uint8_t* data = &byte;
    size_t size = 1;
    if (MicroTVMRpcServerLoop(server, &data, &size) == kTvmErrorPlatformShutdown) {
      return 1;
    }
  }
}

int main(void) {
  int goes_on = 1;
  while (goes_on != 0) {
    kiln_console_text("kiln: rpc server ready, for the bench only\r\n");
    tvm_crt_error_t error = TVMPlatformInitialize();
    if (error != kTvmErrorNoError) {
      TVMPlatformAbort(error);
    }
    goes_on = serve(MicroTVMRpcServerInit(write_console, NULL));
  }
  return 0;
}

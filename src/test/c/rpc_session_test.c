/* SPDX-License-Identifier: Apache-2.0
 *
 * Sessions, case by case as microTVM's own tests have them: a host and a device with the nonces 3C and AB.
 */
#include <tvm/runtime/crt/rpc_common/session.h>

#include "rpc_wire.h"

#define BUFFER_BYTES 64u

struct side {
  struct wire wire;
  TVMFramer framer;
  TVMUnframer unframer;
  TVMFrameBuffer buffer;
  TVMSession session;
  uint8_t memory[BUFFER_BYTES];
  size_t messages;
  TVMSessionMessageType last;
  char text[BUFFER_BYTES + 1u]; /* of the last message with a body */
  bool keeps;                   /* does not clear the buffer */
};

static struct side host;
static struct side device;

static void receive_message(void* context, TVMSessionMessageType type, TVMFrameBuffer* buffer) {
  struct side* side = context;
  ++side->messages;
  side->last = type;
  EXPECT((buffer == NULL) == (type == kTVMSessionStartSessionReply || type == kTVMSessionTerminateSession));
  if (buffer != NULL) {
    size_t size = TVMFrameBuffer_Read(buffer, (uint8_t*)side->text, BUFFER_BYTES);
    side->text[size] = '\0';
    if (!side->keeps) {
      TVMSession_ClearReceiveBuffer(&side->session);
    }
  }
}

static void side_init(struct side* side) {
  memset(side, 0, sizeof(*side));
  wire_clear(&side->wire);
  TVMFramer_Init(&side->framer, &side->wire.stream);
  TVMFrameBuffer_Init(&side->buffer, side->memory, BUFFER_BYTES);
  TVMSession_Init(&side->session, &side->framer, &side->buffer, receive_message, side);
  TVMUnframer_Init(&side->unframer, TVMSession_Receiver(&side->session));
}

/* Both sides as after power-on: what they say then is not on the wire any more. */
static void power_on(void) {
  side_init(&host);
  side_init(&device);
  EXPECT(TVMSession_Initialize(&host.session, 0x3c) == kTvmErrorNoError);
  EXPECT(wire_took(&host.wire, "FE FF FD 03 00 00 00 00 00 02 66 77"));
  EXPECT(TVMSession_Initialize(&device.session, 0xab) == kTvmErrorNoError);
  EXPECT(wire_took(&device.wire, "FE FF FD 03 00 00 00 00 00 02 66 77"));
  EXPECT(host.session.state == kTVMSessionNoSessionEstablished);
}

static tvm_crt_error_t give(struct side* to, const uint8_t* bytes, size_t size) {
  size_t consumed = 0;
  tvm_crt_error_t error = TVMUnframer_Write(&to->unframer, bytes, size, &consumed);
  EXPECT(consumed <= size);
  return error;
}

static tvm_crt_error_t give_hex(struct side* to, const char* hex) {
  uint8_t bytes[WIRE_MOST];
  return give(to, bytes, wire_hex(hex, bytes));
}

/* What one side wrote goes to the other. */
static void carry(struct side* from, struct side* to) {
  EXPECT(give(to, from->wire.bytes, from->wire.size) == kTvmErrorNoError);
  from->wire.size = 0;
}

static void send_frame(struct side* to, const uint8_t* payload, size_t size) {
  struct wire frame;
  TVMFramer framer;
  wire_clear(&frame);
  TVMFramer_Init(&framer, &frame.stream);
  EXPECT(TVMFramer_Write(&framer, payload, size) == kTvmErrorNoError);
  EXPECT(give(to, frame.bytes, frame.size) == kTvmErrorNoError);
}

static void establish(void) {
  power_on();
  EXPECT(TVMSession_StartSession(&host.session) == kTvmErrorNoError);
  EXPECT(host.wire.size == 12);
  carry(&host, &device);
  carry(&device, &host);
  EXPECT(TVMSession_IsEstablished(&host.session) && TVMSession_IsEstablished(&device.session));
}

static void a_session_is_established_and_used(void) {
  power_on();
  EXPECT(TVMSession_StartSession(&host.session) == kTvmErrorNoError);
  EXPECT(wire_took(&host.wire, "FF FD 04 00 00 00 82 00 00 01 7B E9"));
  EXPECT(give_hex(&device, "FF FD 04 00 00 00 82 00 00 01 7B E9") == kTvmErrorNoError);
  EXPECT(device.messages == 1 && device.last == kTVMSessionStartSessionReply);
  EXPECT(wire_took(&device.wire, "FF FD 04 00 00 00 82 66 01 01 81 F3"));
  EXPECT(give_hex(&host, "FF FD 04 00 00 00 82 66 01 01 81 F3") == kTvmErrorNoError);
  EXPECT(host.messages == 1 && host.last == kTVMSessionStartSessionReply);

  EXPECT(TVMSession_SendMessage(&host.session, kTVMSessionNormal, (const uint8_t*)"hello", 5) == kTvmErrorNoError);
  EXPECT(wire_took(&host.wire, "FF FD 08 00 00 00 82 66 10 68 65 6C 6C 6F 90 28"));
  EXPECT(give_hex(&device, "FF FD 08 00 00 00 82 66 10 68 65 6C 6C 6F 90 28") == kTvmErrorNoError);
  EXPECT(device.last == kTVMSessionNormal && strcmp(device.text, "hello") == 0);

  EXPECT(TVMSession_StartMessage(&device.session, kTVMSessionNormal, 5) == kTvmErrorNoError);
  EXPECT(TVMSession_SendBodyChunk(&device.session, (const uint8_t*)"ol", 2) == kTvmErrorNoError);
  EXPECT(TVMSession_SendBodyChunk(&device.session, (const uint8_t*)"leh", 3) == kTvmErrorNoError);
  EXPECT(TVMSession_FinishMessage(&device.session) == kTvmErrorNoError);
  EXPECT(wire_took(&device.wire, "FF FD 08 00 00 00 82 66 10 6F 6C 6C 65 68 4C 76"));

  EXPECT(TVMSession_SendMessage(&device.session, kTVMSessionLog, (const uint8_t*)"log1", 4) == kTvmErrorNoError);
  EXPECT(wire_took(&device.wire, "FF FD 07 00 00 00 00 00 03 6C 6F 67 31 F0 D4"));
  EXPECT(give_hex(&host, "FF FD 07 00 00 00 00 00 03 6C 6F 67 31 F0 D4") == kTvmErrorNoError);
  EXPECT(host.last == kTVMSessionLog && strcmp(host.text, "log1") == 0);
}

static void both_sides_may_start_at_once(void) {
  power_on();
  EXPECT(TVMSession_StartSession(&host.session) == kTvmErrorNoError);
  EXPECT(TVMSession_StartSession(&device.session) == kTvmErrorNoError);
  EXPECT(wire_took(&device.wire, "FF FD 04 00 00 00 66 00 00 01 60 A7"));
  carry(&host, &device); /* 82 is the higher nonce. */
  EXPECT(device.wire.size == 0 && device.session.state == kTVMSessionStartSessionSent);
  EXPECT(give_hex(&host, "FF FD 04 00 00 00 66 00 00 01 60 A7") == kTvmErrorNoError);
  EXPECT(TVMSession_IsEstablished(&host.session));
  EXPECT(wire_took(&host.wire, "FF FD 04 00 00 00 66 45 01 01 0C 62"));
  EXPECT(give_hex(&device, "FF FD 04 00 00 00 66 45 01 01 0C 62") == kTvmErrorNoError);
  EXPECT(TVMSession_IsEstablished(&device.session) && device.session.session_id == host.session.session_id);
}

static void equal_nonces_are_drawn_again_and_a_lower_one_of_another_version_is_ignored(void) {
  static const uint8_t same[] = {0x82, 0, 0, 1};
  static const uint8_t other_version[] = {0x01, 0, 0, 2};
  power_on();
  EXPECT(TVMSession_StartSession(&host.session) == kTvmErrorNoError);
  host.wire.size = 0;
  send_frame(&host, same, sizeof(same));
  EXPECT(host.session.state == kTVMSessionStartSessionSent && host.session.local_nonce == 0x45);
  EXPECT(host.wire.size == 12);
  send_frame(&host, other_version, sizeof(other_version));
  EXPECT(host.session.state == kTVMSessionStartSessionSent && host.wire.size == 12);
}

static void a_host_that_restarted_takes_the_session_over(void) {
  static const uint8_t init[] = {0x17, 0, 0, 1};
  establish();
  send_frame(&device, init, sizeof(init));
  EXPECT(TVMSession_IsEstablished(&device.session) && device.messages == 2);
  EXPECT((device.session.session_id & 0xffu) == 0x17 && device.wire.size == 12);
}

static void wrong_starts_and_replies_are_ignored(void) {
  static const uint8_t no_nonce[] = {0, 0, 0, 1};
  static const uint8_t no_body[] = {0x17, 0, 0};
  static const uint8_t not_mine[] = {0x17, 0x66, 1, 1};
  static const uint8_t no_responder[] = {0x82, 0, 1, 1};
  static const uint8_t other_version[] = {0x82, 0x66, 1, 2};
  static const uint8_t reply[] = {0x82, 0x66, 1, 1};
  power_on();
  send_frame(&device, no_nonce, sizeof(no_nonce));
  send_frame(&device, no_body, sizeof(no_body));
  send_frame(&device, no_body, 2);
  send_frame(&device, no_body, 0);
  send_frame(&device, reply, sizeof(reply));
  EXPECT(device.wire.size == 0 && device.messages == 0);
  EXPECT(TVMSession_StartSession(&host.session) == kTvmErrorNoError);
  send_frame(&host, not_mine, sizeof(not_mine));
  send_frame(&host, no_responder, sizeof(no_responder));
  send_frame(&host, other_version, sizeof(other_version));
  EXPECT(!TVMSession_IsEstablished(&host.session) && host.messages == 0);
  send_frame(&host, reply, sizeof(reply));
  EXPECT(TVMSession_IsEstablished(&host.session) && host.messages == 1);
}

static void a_session_ends(void) {
  static const uint8_t terminate[] = {0, 0, 2};
  establish();
  send_frame(&device, terminate, sizeof(terminate));
  EXPECT(device.messages == 2 && device.last == kTVMSessionTerminateSession);
  EXPECT(!TVMSession_IsEstablished(&device.session));
  send_frame(&device, terminate, sizeof(terminate));
  EXPECT(device.messages == 2);
  EXPECT(TVMSession_SendMessage(&device.session, kTVMSessionNormal, NULL, 0) == kTvmErrorSessionInvalidState);
  EXPECT(TVMSession_TerminateSession(&host.session) == kTvmErrorNoError);
  EXPECT(wire_took(&host.wire, "FF FD 03 00 00 00 00 00 02 66 77"));
}

static void messages_of_other_sessions_are_dropped(void) {
  static const uint8_t other[] = {0x82, 0x67, 0x10, 'x'};
  static const uint8_t log_of_other[] = {0x82, 0x67, 3, 'x'};
  static const uint8_t log_of_mine[] = {0x82, 0x66, 3, 'y'};
  static const uint8_t unknown[] = {0x82, 0x66, 0x11, 'x'};
  static const uint8_t good[] = {0x82, 0x66, 0x10, 'z'};
  establish();
  send_frame(&device, other, sizeof(other));
  send_frame(&device, log_of_other, sizeof(log_of_other));
  send_frame(&device, unknown, sizeof(unknown));
  EXPECT(device.messages == 1);
  send_frame(&device, log_of_mine, sizeof(log_of_mine));
  EXPECT(device.messages == 2 && strcmp(device.text, "y") == 0);
  send_frame(&device, good, sizeof(good));
  EXPECT(device.messages == 3 && strcmp(device.text, "z") == 0);
}

static void a_log_needs_no_session_and_a_normal_message_does(void) {
  static const uint8_t normal[] = {0, 0, 0x10, 'x'};
  power_on();
  EXPECT(TVMSession_SendMessage(&device.session, kTVMSessionNormal, NULL, 0) == kTvmErrorSessionInvalidState);
  EXPECT(TVMSession_StartMessage(&device.session, kTVMSessionStartSessionReply, 0) == kTvmErrorSessionInvalidState);
  EXPECT(device.wire.size == 0);
  send_frame(&device, normal, sizeof(normal));
  EXPECT(device.messages == 0);
  EXPECT(TVMSession_SendMessage(&device.session, kTVMSessionLog, (const uint8_t*)"log1", 4) == kTvmErrorNoError);
  carry(&device, &host);
  EXPECT(host.messages == 1 && strcmp(host.text, "log1") == 0);
}

/* The buffer belongs to the receiver of the message until it clears it. */
static void a_message_that_was_not_cleared_is_kept(void) {
  establish();
  device.keeps = true;
  EXPECT(TVMSession_SendMessage(&host.session, kTVMSessionNormal, (const uint8_t*)"one", 3) == kTvmErrorNoError);
  carry(&host, &device);
  EXPECT(TVMSession_SendMessage(&host.session, kTVMSessionNormal, (const uint8_t*)"two", 3) == kTvmErrorNoError);
  EXPECT((int)give(&device, host.wire.bytes, host.wire.size) == -(int)kTvmErrorSessionReceiveBufferBusy);
  EXPECT(device.buffer.num_valid_bytes == 6 && memcmp(device.memory + 3, "one", 3) == 0);
  EXPECT(give_hex(&device, "FF FD 00 00 00 00 83 44") == kTvmErrorNoError);
  EXPECT(device.buffer.num_valid_bytes == 6 && device.messages == 2);
  TVMSession_ClearReceiveBuffer(&device.session);
  carry(&host, &device);
  EXPECT(device.messages == 3 && strcmp(device.text, "two") == 0);
}

static void what_was_dropped_leaves_the_buffer_empty(void) {
  uint8_t large[BUFFER_BYTES + 1u] = {0x82, 0x66, 0x10};
  struct wire frame;
  TVMFramer framer;
  establish();
  wire_clear(&frame);
  TVMFramer_Init(&framer, &frame.stream);
  EXPECT(TVMFramer_Write(&framer, large, sizeof(large)) == kTvmErrorNoError);
  EXPECT((int)give(&device, frame.bytes, frame.size) == -(int)kTvmErrorSessionReceiveBufferShortWrite);
  EXPECT(device.buffer.num_valid_bytes == 0 && device.messages == 1);
  send_frame(&device, large, BUFFER_BYTES); /* It just fits. */
  EXPECT(device.buffer.num_valid_bytes == 0 && device.messages == 2);
  EXPECT(give_hex(&device, "FF FD 08 00 00 00 82 66 10 68 65 6C 6C 6F 90 29") == kTvmErrorNoError);
  EXPECT(device.buffer.num_valid_bytes == 0 && device.messages == 2);
  EXPECT(give_hex(&device, "FF FD 08 00 00 00 82 66 10 68 65 FF FD") == kTvmErrorFramingShortPacket);
  EXPECT(give_hex(&device, "FD 08 00 00 00 82 66 10 68 65 6C 6C 6F 90 28") == kTvmErrorNoError);
  EXPECT(device.messages == 3 && strcmp(device.text, "hello") == 0);
}

/* 0 is no nonce. */
static void nonces_follow_microtvms_steps(void) {
  power_on();
  for (uint32_t nonce = 0; nonce < 256u; ++nonce) {
    host.session.local_nonce = (uint8_t)nonce;
    EXPECT(TVMSession_StartSession(&host.session) == kTvmErrorNoError);
    host.wire.size = 0;
    uint32_t next = ((nonce << 5 | nonce >> 5) + 1u) % 256u;
    EXPECT(host.session.local_nonce == (next == 0u ? 1u : next));
  }
}

static void a_reply_that_cannot_be_sent_establishes_nothing(void) {
  power_on();
  device.wire.result = -1;
  EXPECT(give_hex(&device, "FF FD 04 00 00 00 82 00 00 01 7B E9") == kTvmErrorNoError);
  EXPECT(!TVMSession_IsEstablished(&device.session) && device.messages == 0);
}

int main(void) {
  a_session_is_established_and_used();
  both_sides_may_start_at_once();
  equal_nonces_are_drawn_again_and_a_lower_one_of_another_version_is_ignored();
  a_host_that_restarted_takes_the_session_over();
  wrong_starts_and_replies_are_ignored();
  a_session_ends();
  messages_of_other_sessions_are_dropped();
  a_log_needs_no_session_and_a_normal_message_does();
  a_message_that_was_not_cleared_is_kept();
  what_was_dropped_leaves_the_buffer_empty();
  nonces_follow_microtvms_steps();
  a_reply_that_cannot_be_sent_establishes_nothing();
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames, case by case as microTVM's own tests of framing have them.
 */
#include "rpc_packets.h"

static void frames_have_the_bytes_of_microtvms(void) {
  TVMFramer framer;
  wire_clear(&wire);
  TVMFramer_Init(&framer, &wire.stream);
  EXPECT(TVMFramer_Write(&framer, packets[0].payload, 3) == kTvmErrorNoError);
  EXPECT(wire_took(&wire, "FE " ONE));
  EXPECT(TVMFramer_Write(&framer, packets[0].payload, 3) == kTvmErrorNoError);
  EXPECT(wire_took(&wire, ONE));
  EXPECT(TVMFramer_Write(&framer, NULL, 0) == kTvmErrorNoError);
  EXPECT(wire_took(&wire, EMPTY));
  TVMFramer_Reset(&framer);
  EXPECT(framer.state == kTVMFramerReset);
  EXPECT(TVMFramer_Write(&framer, NULL, 0) == kTvmErrorNoError);
  EXPECT(wire_took(&wire, "FE " EMPTY));

  /* FF in the payload, in the CRC and in the length. */
  static const uint8_t end[] = {0xb4u, 0xffu, 0xffu};
  const struct packet* escaped = &packets[2];
  EXPECT(memcmp(escaped->frame + escaped->frame_size - sizeof(end), end, sizeof(end)) == 0);
  static const uint8_t start[] = {0xffu, 0xfdu, 0xffu, 0xffu, 0, 0, 0, 'a'};
  EXPECT(memcmp(packets[3].frame, start, sizeof(start)) == 0);
}

static void frames_may_be_sent_in_chunks(void) {
  TVMFramer framer;
  wire_clear(&wire);
  wire.at_once = 2;
  TVMFramer_Init(&framer, &wire.stream);
  EXPECT(TVMFramer_StartPacket(&framer, 3) == kTvmErrorNoError);
  EXPECT(framer.state == kTVMFramerTransmitPacketPayload);
  EXPECT(TVMFramer_WritePayloadChunk(&framer, (const uint8_t*)"o", 1) == kTvmErrorNoError);
  EXPECT(TVMFramer_WritePayloadChunk(&framer, NULL, 0) == kTvmErrorNoError);
  EXPECT(TVMFramer_FinishPacket(&framer) == kTvmErrorFramingPayloadIncomplete);
  EXPECT(TVMFramer_WritePayloadChunk(&framer, (const uint8_t*)"ne!", 3) ==
         kTvmErrorFramingPayloadOverflow);
  EXPECT(TVMFramer_WritePayloadChunk(&framer, (const uint8_t*)"ne", 2) == kTvmErrorNoError);
  EXPECT(TVMFramer_FinishPacket(&framer) == kTvmErrorNoError);
  EXPECT(framer.state == kTVMFramerIdle);
  EXPECT(wire_took(&wire, "FE " ONE));
  EXPECT(TVMFramer_WritePayloadChunk(&framer, NULL, 0) == kTvmErrorFramingInvalidState);
  EXPECT(TVMFramer_FinishPacket(&framer) == kTvmErrorFramingInvalidState);
}

static void errors_of_the_stream_come_through(void) {
  TVMFramer framer;
  wire_clear(&wire);
  TVMFramer_Init(&framer, &wire.stream);
  wire.room = 4;
  EXPECT(TVMFramer_Write(&framer, packets[0].payload, 3) == kTvmErrorWriteStreamShortWrite);
  EXPECT(framer.state == kTVMFramerReset);
  wire.result = 100;
  EXPECT(TVMFramer_Write(&framer, packets[0].payload, 3) == kTvmErrorWriteStreamLongWrite);
  wire.result = -7;
  EXPECT((int)TVMFramer_Write(&framer, packets[0].payload, 3) == -7);
  wire_clear(&wire);
  EXPECT(TVMFramer_Write(&framer, packets[0].payload, 3) == kTvmErrorNoError);
  EXPECT(wire_took(&wire, "FE " ONE)); /* The nop says that something went wrong. */
}

/* Feeds bytes, all of which must be taken, and expects one whole payload more. */
static void receive(TVMUnframer* unframer, const struct packet* packet, size_t first) {
  size_t consumed = 0;
  wire_clear(&wire);
  EXPECT(TVMUnframer_Write(unframer, packet->frame, first, &consumed) == kTvmErrorNoError);
  EXPECT(consumed == first);
  EXPECT(TVMUnframer_Write(unframer, packet->frame + first, packet->frame_size - first,
                           &consumed) == kTvmErrorNoError);
  EXPECT(consumed == packet->frame_size - first);
  EXPECT(wire.done == 1 && wire.bad == 0);
  EXPECT(wire.size == packet->size && memcmp(wire.bytes, packet->payload, packet->size) == 0);
}

static void frames_arrive_whole_and_in_any_two_pieces(void) {
  TVMUnframer unframer;
  wire_clear(&wire);
  TVMUnframer_Init(&unframer, &wire.stream);
  for (size_t p = 0; p < 4u; ++p) {
    for (size_t first = 0; first <= packets[p].frame_size; ++first) {
      receive(&unframer, &packets[p], first);
    }
  }
}

static void frames_arrive_byte_by_byte_and_as_much_as_is_needed(void) {
  for (size_t p = 0; p < 4u; ++p) {
    const struct packet* packet = &packets[p];
    for (int by_need = 0; by_need < 2; ++by_need) {
      TVMUnframer unframer;
      wire_clear(&wire);
      TVMUnframer_Init(&unframer, &wire.stream);
      for (size_t at = 0; at < packet->frame_size;) {
        size_t step = by_need != 0 ? TVMUnframer_BytesNeeded(&unframer) : 1u;
        size_t consumed = 0;
        EXPECT(wire.done == 0 && step > 0 && step <= packet->frame_size - at);
        EXPECT(TVMUnframer_Write(&unframer, packet->frame + at, step, &consumed) ==
               kTvmErrorNoError);
        EXPECT(consumed == step);
        at += step;
      }
      EXPECT(wire.done == 1 && wire.size == packet->size);
      EXPECT(memcmp(wire.bytes, packet->payload, packet->size) == 0);
    }
  }
}

static void several_frames_arrive_at_once(void) {
  uint8_t stream[WIRE_MOST];
  size_t size = wire_hex("41 FF FE FF 42 FE " ONE " 43 " EMPTY " " ONE, stream);
  size_t consumed = 0;
  TVMUnframer unframer;
  wire_clear(&wire);
  TVMUnframer_Init(&unframer, &wire.stream);
  EXPECT(TVMUnframer_Write(&unframer, stream, size, &consumed) == kTvmErrorNoError);
  EXPECT(consumed == size && wire.done == 3 && wire.bad == 0);
  EXPECT(wire_took(&wire, "6F 6E 65 6F 6E 65"));
}

static void payloads_come_in_pieces_of_at_most_128_bytes(void) {
  size_t consumed = 0;
  TVMUnframer unframer;
  wire_clear(&wire);
  TVMUnframer_Init(&unframer, &wire.stream);
  EXPECT(TVMUnframer_Write(&unframer, packets[3].frame, packets[3].frame_size, &consumed) ==
         kTvmErrorNoError);
  EXPECT(wire.calls == 2 && wire.size == sizeof(long_text));
}

/* Feeds a whole frame, past the error that says that another one ended early. Returns whether its payload arrived. */
static bool goes_on_with(TVMUnframer* unframer, const struct packet* packet) {
  size_t consumed = 0;
  wire.size = 0;
  size_t done = wire.done;
  tvm_crt_error_t error =
      TVMUnframer_Write(unframer, packet->frame, packet->frame_size, &consumed);
  if (error == kTvmErrorFramingShortPacket) {
    EXPECT(consumed == 1);
    wire.size = 0;
    error = TVMUnframer_Write(unframer, packet->frame + consumed, packet->frame_size - consumed,
                              &consumed);
  }
  EXPECT(error == kTvmErrorNoError);
  return wire.done == done + 1u && wire.size == packet->size &&
         memcmp(wire.bytes, packet->payload, packet->size) == 0;
}

/* Between the two bytes of an escaped FF, the next frame's first FF is taken for the second one; the frame behind it arrives. */
static void a_cut_frame_does_no_harm_to_the_next_one(void) {
  for (size_t p = 0; p < 4u; ++p) {
    for (size_t cut = 1; cut < packets[p].frame_size; ++cut) {
      TVMUnframer unframer;
      size_t consumed = 0;
      wire_clear(&wire);
      TVMUnframer_Init(&unframer, &wire.stream);
      EXPECT(TVMUnframer_Write(&unframer, packets[p].frame, cut, &consumed) == kTvmErrorNoError);
      bool is_in_escape = cut > 1u && unframer.saw_escape_start;
      EXPECT(goes_on_with(&unframer, &packets[0]) || is_in_escape);
      EXPECT(goes_on_with(&unframer, &packets[0]));
    }
  }
}

static void a_frame_too_long_is_dropped_and_the_next_one_arrives(void) {
  TVMUnframer unframer;
  size_t consumed = 0;
  wire_clear(&wire);
  wire.room = 100;
  TVMUnframer_Init(&unframer, &wire.stream);
  EXPECT(TVMUnframer_Write(&unframer, packets[3].frame, packets[3].frame_size, &consumed) ==
         kTvmErrorWriteStreamShortWrite);
  EXPECT(consumed < packets[3].frame_size && wire.done == 0 && wire.bad == 1);
  size_t rest = packets[3].frame_size - consumed;
  EXPECT(TVMUnframer_Write(&unframer, packets[3].frame + consumed, rest, &consumed) ==
         kTvmErrorNoError);
  EXPECT(consumed == rest && wire.done == 0 && wire.bad == 1);
  receive(&unframer, &packets[0], 0);
}

/* Feeds bytes to a receiver that has seen nothing. */
static tvm_crt_error_t feed(TVMUnframer* unframer, const char* hex, size_t* consumed) {
  uint8_t stream[WIRE_MOST];
  size_t size = wire_hex(hex, stream);
  wire_clear(&wire);
  TVMUnframer_Init(unframer, &wire.stream);
  return TVMUnframer_Write(unframer, stream, size, consumed);
}

static void a_wrong_crc_is_told_and_the_next_frame_arrives(void) {
  TVMUnframer unframer;
  size_t consumed = 0;
  EXPECT(feed(&unframer, "FF FD 03 00 00 00 6F 6E 65 58 F5", &consumed) == kTvmErrorNoError);
  EXPECT(consumed == 11 && wire.done == 0 && wire.bad == 1);
  receive(&unframer, &packets[2], 5);
}

static void an_unknown_escape_drops_the_frame(void) {
  TVMUnframer unframer;
  size_t consumed = 0;
  EXPECT(feed(&unframer, "FF FD 03 00 00 00 6F FF 00 6E 65", &consumed) ==
         kTvmErrorFramingInvalidEscape);
  EXPECT(consumed == 9 && wire.bad == 1 && unframer.state == kTVMUnframerFindPacketStart);
  receive(&unframer, &packets[0], 0);
}

static void a_frame_in_a_frame_begins_anew(void) {
  TVMUnframer unframer;
  size_t consumed = 0;
  EXPECT(feed(&unframer, "FF FD 03 00 00 00 6F FF FD 03", &consumed) ==
         kTvmErrorFramingShortPacket);
  EXPECT(consumed == 8 && unframer.state == kTVMUnframerFindPacketStart);
  EXPECT(TVMUnframer_Write(&unframer, (const uint8_t*)"\xfd", 1, &consumed) == kTvmErrorNoError);
  EXPECT(consumed == 1 && unframer.state == kTVMUnframerFindPacketLength);
  EXPECT(TVMUnframer_BytesNeeded(&unframer) == 4);
}

/* A filler counts into the CRC up to the last byte of the payload, and not behind it. */
static void fillers_inside_are_skipped_and_count(void) {
  static const char* good[] = {
      "FF FD 03 00 00 00 6F FF FE 6E 65 3D 28",       "FF FD FF FE 03 00 00 00 6F 6E 65 D5 FA",
      "FF FD 03 FF FE 00 00 00 6F 6E 65 ED D9",       "FF FD 03 00 00 00 FF FE 6F 6E 65 0A 37",
      "FF FD 03 00 00 00 6F FF FE FF FE 6E 65 74 44", "FF FD 03 00 00 00 6F 6E 65 FF FE 58 F4",
      "FF FD 03 00 00 00 6F 6E 65 58 FF FE F4",       "FF FF FD 03 00 00 00 6F 6E 65 58 F4"};
  TVMUnframer unframer;
  size_t consumed = 0;
  for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); ++i) {
    EXPECT(feed(&unframer, good[i], &consumed) == kTvmErrorNoError);
    EXPECT(wire.done == 1 && wire_took(&wire, "6F 6E 65"));
  }
  EXPECT(feed(&unframer, "FF FD 01 00 00 00 FF FE FF FF 4B 2F", &consumed) == kTvmErrorNoError);
  EXPECT(wire.done == 1 && wire_took(&wire, "FF"));
  EXPECT(feed(&unframer, "FF FD 03 00 00 00 6F FF FE 6E 65 58 F4", &consumed) == kTvmErrorNoError);
  EXPECT(wire.done == 0 && wire.bad == 1);
}

static void the_buffer_holds_what_fits(void) {
  uint8_t memory[8];
  uint8_t read[8] = {0};
  TVMFrameBuffer buffer;
  TVMFrameBuffer_Init(&buffer, memory, sizeof(memory));
  EXPECT(TVMFrameBuffer_Size(&buffer) == 8 && TVMFrameBuffer_ReadAvailable(&buffer) == 0);
  EXPECT(TVMFrameBuffer_Write(&buffer, (const uint8_t*)"abcdef", 6) == 6);
  EXPECT(TVMFrameBuffer_Peek(&buffer, read, 2) == 2 && read[1] == 'b');
  EXPECT(TVMFrameBuffer_Read(&buffer, read, 4) == 4 && memcmp(read, "abcd", 4) == 0);
  EXPECT(TVMFrameBuffer_Write(&buffer, (const uint8_t*)"ghi", 3) == 2); /* It is linear. */
  EXPECT(TVMFrameBuffer_Write(&buffer, (const uint8_t*)"i", 1) == 0);
  EXPECT(TVMFrameBuffer_ReadAvailable(&buffer) == 4);
  EXPECT(TVMFrameBuffer_Read(&buffer, read, 8) == 4 && memcmp(read, "efgh", 4) == 0);
  EXPECT(TVMFrameBuffer_Read(&buffer, read, 8) == 0);
  TVMFrameBuffer_Clear(&buffer);
  EXPECT(TVMFrameBuffer_Write(&buffer, (const uint8_t*)"abcdefghi", 9) == 8);
}

int main(void) {
  make_packets();
  frames_have_the_bytes_of_microtvms();
  frames_may_be_sent_in_chunks();
  errors_of_the_stream_come_through();
  frames_arrive_whole_and_in_any_two_pieces();
  frames_arrive_byte_by_byte_and_as_much_as_is_needed();
  several_frames_arrive_at_once();
  payloads_come_in_pieces_of_at_most_128_bytes();
  a_cut_frame_does_no_harm_to_the_next_one();
  a_frame_too_long_is_dropped_and_the_next_one_arrives();
  a_wrong_crc_is_told_and_the_next_frame_arrives();
  an_unknown_escape_drops_the_frame();
  a_frame_in_a_frame_begins_anew();
  fillers_inside_are_skipped_and_count();
  the_buffer_holds_what_fits();
  return 0;
}

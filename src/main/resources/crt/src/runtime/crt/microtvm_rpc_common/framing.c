/* SPDX-License-Identifier: Apache-2.0 */
#include <tvm/runtime/crt/rpc_common/framing.h>

#define CRC_START 0xffffu

/* CRC-16-CCITT, high bit first, by a byte. */
static uint16_t crc_add(uint16_t crc, uint8_t byte) {
  uint32_t mixed = (uint32_t)crc >> 8 ^ byte;
  mixed ^= mixed >> 4;
  return (uint16_t)((uint32_t)crc << 8 ^ mixed << 12 ^ mixed << 5 ^ mixed);
}

static uint16_t crc_add_all(uint16_t crc, const uint8_t* data, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    crc = crc_add(crc, data[i]);
  }
  return crc;
}

uint16_t TVMFraming_ComputeCrc(const uint8_t* data, size_t data_size_bytes,
                               const uint16_t* previous_crc) {
  return crc_add_all(previous_crc == NULL ? CRC_START : *previous_crc, data, data_size_bytes);
}

void TVMUnframer_Init(TVMUnframer* unframer, TVMWriteStream* stream) {
  unframer->stream = stream;
  TVMUnframer_Reset(unframer);
}

void TVMUnframer_Reset(TVMUnframer* unframer) {
  unframer->state = kTVMUnframerFindPacketStart;
  unframer->saw_escape_start = false;
  unframer->num_bytes = 0;
  unframer->crc = 0;
  unframer->received_crc = 0;
  unframer->num_payload_bytes = 0;
}

static void end_packet(TVMUnframer* unframer, bool is_valid) {
  TVMUnframer_Reset(unframer);
  unframer->stream->PacketDone(unframer->stream, is_valid);
}

/* FF FD, wherever it stands, begins a frame. Inside a frame, FD is not taken yet: the caller hears first that the frame was cut. */
static tvm_crt_error_t begin_packet(TVMUnframer* unframer) {
  if (unframer->state != kTVMUnframerFindPacketStart) {
    end_packet(unframer, false);
    unframer->saw_escape_start = true;
    return kTvmErrorFramingShortPacket;
  }
  unframer->state = kTVMUnframerFindPacketLength;
  unframer->crc = crc_add(crc_add(CRC_START, TVM_FRAMING_ESCAPE_START), TVM_FRAMING_PACKET_START);
  return kTvmErrorNoError;
}

/* Takes bytes of a frame that are no escape sequences any more. More than one only in the payload. */
static tvm_crt_error_t take_data(TVMUnframer* unframer, const uint8_t* data, size_t size) {
  uint32_t shift = 8u * unframer->num_bytes;
  switch (unframer->state) {
    case kTVMUnframerFindPacketLength:
      unframer->num_payload_bytes |= (uint32_t)*data << shift;
      if (++unframer->num_bytes == sizeof(uint32_t)) {
        unframer->num_bytes = 0;
        unframer->state = unframer->num_payload_bytes == 0u ? kTVMUnframerFindCrcEnd
                                                            : kTVMUnframerFindPacketCrc;
      }
      return kTvmErrorNoError;
    case kTVMUnframerFindPacketCrc:
      unframer->num_payload_bytes -= (uint32_t)size;
      if (unframer->num_payload_bytes == 0u) {
        unframer->state = kTVMUnframerFindCrcEnd;
      }
      return TVMWriteStream_WriteAll(unframer->stream, data, size);
    case kTVMUnframerFindCrcEnd:
      unframer->received_crc = (uint16_t)(unframer->received_crc | (uint32_t)*data << shift);
      if (++unframer->num_bytes == sizeof(uint16_t)) {
        end_packet(unframer, unframer->received_crc == unframer->crc);
      }
      return kTvmErrorNoError;
    case kTVMUnframerFindPacketStart:
    default:
      return kTvmErrorNoError; /* between frames */
  }
}

/* Takes the byte behind an FF. */
static tvm_crt_error_t take_escaped(TVMUnframer* unframer, const uint8_t* byte) {
  unframer->saw_escape_start = false;
  if (*byte == TVM_FRAMING_PACKET_START) {
    return begin_packet(unframer);
  }
  if (unframer->state == kTVMUnframerFindPacketStart) {
    unframer->saw_escape_start = *byte == TVM_FRAMING_ESCAPE_START;
    return kTvmErrorNoError;
  }
  if (*byte == TVM_FRAMING_ESCAPE_NOP) {
    return kTvmErrorNoError;
  }
  return *byte == TVM_FRAMING_ESCAPE_START ? take_data(unframer, byte, 1)
                                           : kTvmErrorFramingInvalidEscape;
}

/* How many of these bytes go on as they are. */
static size_t plain_bytes(const TVMUnframer* unframer, const uint8_t* data, size_t size) {
  size_t most = 1;
  if (unframer->saw_escape_start) {
    return 0;
  }
  if (unframer->state == kTVMUnframerFindPacketCrc) {
    most = unframer->num_payload_bytes < TVM_FRAMING_MAX_CHUNK_BYTES ? unframer->num_payload_bytes
                                                                     : TVM_FRAMING_MAX_CHUNK_BYTES;
  }
  size_t plain = 0;
  while (plain < size && plain < most && data[plain] != TVM_FRAMING_ESCAPE_START) {
    ++plain;
  }
  return plain;
}

/* Takes a run of plain bytes or one byte of an escape sequence. */
static tvm_crt_error_t take_some(TVMUnframer* unframer, const uint8_t* data, size_t size,
                                 size_t* taken) {
  size_t plain = plain_bytes(unframer, data, size);
  *taken = plain > 0u ? plain : 1u;
  if (unframer->state == kTVMUnframerFindPacketLength ||
      unframer->state == kTVMUnframerFindPacketCrc) {
    unframer->crc = crc_add_all(unframer->crc, data, *taken);
  }
  if (plain > 0u) {
    return take_data(unframer, data, plain);
  }
  if (unframer->saw_escape_start) {
    return take_escaped(unframer, data);
  }
  unframer->saw_escape_start = true;
  return kTvmErrorNoError;
}

tvm_crt_error_t TVMUnframer_Write(TVMUnframer* unframer, const uint8_t* data,
                                  size_t data_size_bytes, size_t* bytes_consumed) {
  tvm_crt_error_t error = kTvmErrorNoError;
  size_t used = 0;
  while (error == kTvmErrorNoError && used < data_size_bytes) {
    size_t taken = 0;
    error = take_some(unframer, data + used, data_size_bytes - used, &taken);
    used += error == kTvmErrorFramingShortPacket ? 0u : taken;
  }
  if (error != kTvmErrorNoError && error != kTvmErrorFramingShortPacket) {
    end_packet(unframer, false);
  }
  *bytes_consumed = used;
  return error;
}

size_t TVMUnframer_BytesNeeded(const TVMUnframer* unframer) {
  switch (unframer->state) {
    case kTVMUnframerFindPacketLength:
      return sizeof(uint32_t) - unframer->num_bytes;
    case kTVMUnframerFindPacketCrc:
      return unframer->num_payload_bytes;
    case kTVMUnframerFindCrcEnd:
      return sizeof(uint16_t) - unframer->num_bytes;
    case kTVMUnframerFindPacketStart:
    default:
      return 1;
  }
}

void TVMFramer_Init(TVMFramer* framer, TVMWriteStream* stream) {
  framer->stream = stream;
  framer->crc = 0;
  TVMFramer_Reset(framer);
}

void TVMFramer_Reset(TVMFramer* framer) {
  framer->state = kTVMFramerReset;
  framer->num_payload_bytes_remaining = 0;
}

static tvm_crt_error_t write_raw(TVMFramer* framer, const uint8_t* data, size_t size) {
  framer->crc = crc_add_all(framer->crc, data, size);
  tvm_crt_error_t error = TVMWriteStream_WriteAll(framer->stream, data, size);
  if (error != kTvmErrorNoError) {
    TVMFramer_Reset(framer);
  }
  return error;
}

/* Writes up to each FF, and begins the next piece with the same FF. */
static tvm_crt_error_t write_escaped(TVMFramer* framer, const uint8_t* data, size_t size) {
  size_t start = 0;
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == TVM_FRAMING_ESCAPE_START) {
      tvm_crt_error_t error = write_raw(framer, data + start, i + 1u - start);
      if (error != kTvmErrorNoError) {
        return error;
      }
      start = i;
    }
  }
  return size > start ? write_raw(framer, data + start, size - start) : kTvmErrorNoError;
}

/* Writes the lowest bytes of a number. */
static tvm_crt_error_t write_number(TVMFramer* framer, uint32_t value, size_t size) {
  uint8_t bytes[sizeof(value)];
  for (size_t i = 0; i < size; ++i) {
    bytes[i] = (uint8_t)(value >> 8u * i & 0xffu);
  }
  return write_escaped(framer, bytes, size);
}

tvm_crt_error_t TVMFramer_StartPacket(TVMFramer* framer, size_t payload_size_bytes) {
  static const uint8_t nop = TVM_FRAMING_ESCAPE_NOP;
  static const uint8_t start[] = {TVM_FRAMING_ESCAPE_START, TVM_FRAMING_PACKET_START};
  tvm_crt_error_t error = kTvmErrorNoError;
  if (payload_size_bytes > UINT32_MAX) {
    return kTvmErrorFramingPayloadOverflow;
  }
  if (framer->state == kTVMFramerReset) {
    error = write_raw(framer, &nop, 1);
  }
  framer->crc = CRC_START;
  if (error == kTvmErrorNoError) {
    error = write_raw(framer, start, sizeof(start));
  }
  if (error == kTvmErrorNoError) {
    error = write_number(framer, (uint32_t)payload_size_bytes, sizeof(uint32_t));
  }
  if (error == kTvmErrorNoError) {
    framer->state = kTVMFramerTransmitPacketPayload;
    framer->num_payload_bytes_remaining = (uint32_t)payload_size_bytes;
  }
  return error;
}

tvm_crt_error_t TVMFramer_WritePayloadChunk(TVMFramer* framer, const uint8_t* payload_chunk,
                                            size_t payload_chunk_size_bytes) {
  if (framer->state != kTVMFramerTransmitPacketPayload) {
    return kTvmErrorFramingInvalidState;
  }
  if (payload_chunk_size_bytes > framer->num_payload_bytes_remaining) {
    return kTvmErrorFramingPayloadOverflow;
  }
  framer->num_payload_bytes_remaining -= (uint32_t)payload_chunk_size_bytes;
  return write_escaped(framer, payload_chunk, payload_chunk_size_bytes);
}

tvm_crt_error_t TVMFramer_FinishPacket(TVMFramer* framer) {
  if (framer->state != kTVMFramerTransmitPacketPayload) {
    return kTvmErrorFramingInvalidState;
  }
  if (framer->num_payload_bytes_remaining > 0u) {
    return kTvmErrorFramingPayloadIncomplete;
  }
  framer->state = kTVMFramerTransmitPacketCrc;
  tvm_crt_error_t error = write_number(framer, framer->crc, sizeof(uint16_t));
  if (error == kTvmErrorNoError) {
    framer->state = kTVMFramerIdle;
  }
  return error;
}

tvm_crt_error_t TVMFramer_Write(TVMFramer* framer, const uint8_t* payload,
                                size_t payload_size_bytes) {
  tvm_crt_error_t error = TVMFramer_StartPacket(framer, payload_size_bytes);
  if (error == kTvmErrorNoError) {
    error = TVMFramer_WritePayloadChunk(framer, payload, payload_size_bytes);
  }
  return error == kTvmErrorNoError ? TVMFramer_FinishPacket(framer) : error;
}

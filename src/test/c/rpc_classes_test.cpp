/* SPDX-License-Identifier: Apache-2.0
 *
 * microTVM's classes of frames and sessions, used as its own tests use them.
 */
#include <tvm/runtime/crt/rpc_common/frame_buffer.h>
#include <tvm/runtime/crt/rpc_common/framing.h>
#include <tvm/runtime/crt/rpc_common/session.h>
#include <tvm/runtime/crt/rpc_common/write_stream.h>

#include <cstring>
#include <string>

#include "check.h"

using tvm::runtime::micro_rpc::Escape;
using tvm::runtime::micro_rpc::FrameBuffer;
using tvm::runtime::micro_rpc::Framer;
using tvm::runtime::micro_rpc::MessageType;
using tvm::runtime::micro_rpc::Session;
using tvm::runtime::micro_rpc::Unframer;
using tvm::runtime::micro_rpc::WriteStream;

namespace {

template <unsigned int N>
class BufferWriteStream : public WriteStream {
 public:
  ssize_t Write(const uint8_t* data, size_t size) override { return static_cast<ssize_t>(buffer_.Write(data, size)); }

  void PacketDone(bool is_valid) override {
    EXPECT(!packet_done_);
    packet_done_ = true;
    is_valid_ = is_valid;
  }

  void Reset() {
    buffer_.Clear();
    packet_done_ = false;
    is_valid_ = false;
  }

  bool packet_done() const { return packet_done_; }
  bool is_valid() const { return is_valid_; }
  std::string Contents() const { return std::string(reinterpret_cast<const char*>(data_), buffer_.Size()); }

 private:
  bool packet_done_ = false;
  bool is_valid_ = false;
  uint8_t data_[N];
  FrameBuffer buffer_{data_, N};
};

const uint8_t* bytes(const std::string& text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

const std::string kOne("\xff\xfd\x03\x00\x00\x00one\x58\xf4", 11);

void frames_are_sent() {
  BufferWriteStream<300> stream;
  Framer framer{&stream};
  EXPECT(framer.Write(bytes("one"), 3) == kTvmErrorNoError);
  EXPECT(stream.Contents() == "\xfe" + kOne);
  stream.Reset();
  EXPECT(framer.WritePayloadChunk(bytes("one"), 3) == kTvmErrorFramingInvalidState);
  EXPECT(framer.StartPacket(3) == kTvmErrorNoError);
  EXPECT(framer.WritePayloadChunk(bytes("on"), 2) == kTvmErrorNoError);
  EXPECT(framer.FinishPacket() == kTvmErrorFramingPayloadIncomplete);
  EXPECT(framer.WritePayloadChunk(bytes("e"), 1) == kTvmErrorNoError);
  EXPECT(framer.FinishPacket() == kTvmErrorNoError);
  EXPECT(stream.Contents() == kOne);
}

void their_crc_is_that_of_bytes_or_pieces() {
  const uint8_t* frame = bytes(kOne);
  uint16_t crc = tvm::runtime::micro_rpc::crc16_compute(frame, 2, nullptr);
  EXPECT(tvm::runtime::micro_rpc::crc16_compute(frame + 2, 7, &crc) == 0xf458);
  EXPECT(tvm::runtime::micro_rpc::crc16_compute(frame, 9, nullptr) == 0xf458);
}

void frames_are_received_whole_and_in_pieces() {
  BufferWriteStream<300> stream;
  Unframer unframer{&stream};
  size_t consumed = 0;
  EXPECT(unframer.BytesNeeded() == 1);
  EXPECT(unframer.Write(bytes(kOne), kOne.size(), &consumed) == kTvmErrorNoError);
  EXPECT(consumed == kOne.size() && stream.packet_done() && stream.is_valid() && stream.Contents() == "one");
  stream.Reset();
  for (size_t i = 0; i < kOne.size(); ++i) {
    EXPECT(!stream.packet_done());
    EXPECT(unframer.Write(bytes(kOne) + i, 1, &consumed) == kTvmErrorNoError && consumed == 1);
  }
  EXPECT(stream.packet_done() && stream.is_valid() && stream.Contents() == "one");
}

void a_wrong_crc_is_told_and_no_error() {
  BufferWriteStream<300> stream;
  Unframer unframer{&stream};
  std::string wrong = kOne;
  wrong[wrong.size() - 1] = 'x';
  size_t consumed = 0;
  EXPECT(unframer.Write(bytes(wrong), wrong.size(), &consumed) == kTvmErrorNoError);
  EXPECT(consumed == wrong.size() && stream.packet_done() && !stream.is_valid());
  stream.Reset();
  EXPECT(unframer.Write(bytes(kOne), kOne.size(), &consumed) == kTvmErrorNoError && stream.is_valid());
}

void what_the_stream_does_not_take_is_not_consumed() {
  BufferWriteStream<300> stream;
  Unframer unframer{&stream};
  size_t consumed = 0;
  EXPECT(unframer.Write(bytes(std::string("\xff\xfd\x2d\x01\x00\x00", 6)), 6, &consumed) == kTvmErrorNoError);
  std::string payload(301, 'p');
  EXPECT(unframer.Write(bytes(payload), payload.size(), &consumed) == kTvmErrorWriteStreamShortWrite);
  EXPECT(consumed == 300 && !stream.packet_done() && stream.Contents() == payload.substr(0, 300));
  EXPECT(unframer.Write(bytes("crc"), 2, &consumed) == kTvmErrorNoError && consumed == 2);
  EXPECT(!stream.packet_done());
  stream.Reset();
  EXPECT(unframer.Write(bytes(kOne), kOne.size(), &consumed) == kTvmErrorNoError);
  EXPECT(consumed == kOne.size() && stream.is_valid() && stream.Contents() == "one");
}

void a_cut_frame_is_an_error_and_the_next_one_is_received() {
  for (size_t cut = 2; cut < kOne.size(); ++cut) {
    BufferWriteStream<300> stream;
    Unframer unframer{&stream};
    std::string both = kOne.substr(0, cut) + kOne;
    size_t consumed = 0;
    EXPECT(unframer.Write(bytes(both), both.size(), &consumed) == kTvmErrorFramingShortPacket);
    EXPECT(consumed == cut + 1 && !stream.packet_done());
    stream.Reset();
    size_t rest = both.size() - consumed;
    EXPECT(unframer.Write(bytes(both) + consumed, rest, &consumed) == kTvmErrorNoError && consumed == rest);
    EXPECT(stream.is_valid() && stream.Contents() == "one");
  }
  BufferWriteStream<300> stream;
  Unframer unframer{&stream};
  size_t consumed = 0;
  EXPECT(unframer.Write(bytes(kOne), 2, &consumed) == kTvmErrorNoError && consumed == 2);
  EXPECT(unframer.Write(bytes(kOne), 1, &consumed) == kTvmErrorNoError && consumed == 1);
  EXPECT(unframer.Write(bytes(kOne) + 1, 1, &consumed) == kTvmErrorFramingShortPacket && consumed == 0);
  EXPECT(unframer.Write(bytes(kOne) + 1, kOne.size() - 1, &consumed) == kTvmErrorNoError);
  EXPECT(consumed == kOne.size() - 1 && stream.is_valid() && stream.Contents() == "one");
  stream.Reset();
  EXPECT(unframer.Write(bytes("\xff\xfd\x03\xff\x01"), 5, &consumed) == kTvmErrorFramingInvalidEscape);
  EXPECT(consumed == 5 && !stream.packet_done());
}

void streams_say_how_far_they_came() {
  BufferWriteStream<4> stream;
  size_t consumed = 0;
  std::string text = "longer";
  EXPECT(stream.WriteAll(reinterpret_cast<uint8_t*>(&text[0]), 6, &consumed) == kTvmErrorWriteStreamShortWrite);
  EXPECT(consumed == 4);
}

/* A side of a session, and what it heard last. */
struct Side {
  BufferWriteStream<300> wire;
  Framer framer{&wire};
  uint8_t data[300];
  FrameBuffer buffer{data, sizeof data};
  Session session{&framer, &buffer, Heard, this};
  Unframer unframer{session.Receiver()};
  int heard = 0;
  MessageType type = MessageType::kLog;
  std::string body;

  static void Heard(void* context, MessageType type, FrameBuffer* buf) {
    Side* self = static_cast<Side*>(context);
    ++self->heard;
    self->type = type;
    char text[64];
    self->body = buf == nullptr ? "" : std::string(text, buf->Read(reinterpret_cast<uint8_t*>(text), sizeof text));
  }

  void Hear(Side* other) {
    std::string sent = other->wire.Contents();
    other->wire.Reset();
    size_t consumed = 0;
    EXPECT(unframer.Write(bytes(sent), sent.size(), &consumed) == kTvmErrorNoError && consumed == sent.size());
  }
};

void sessions_are_made_used_and_ended() {
  Side host;
  Side device;
  EXPECT(device.session.Initialize(0xab) == kTvmErrorNoError);
  host.Hear(&device);
  EXPECT(host.session.SendMessage(MessageType::kNormal, bytes("x"), 1) == kTvmErrorSessionInvalidState);
  EXPECT(host.session.Initialize(0x3c) == kTvmErrorNoError);
  EXPECT(host.wire.Contents() == std::string("\xfe\xff\xfd\x03\x00\x00\x00\x00\x00\x02\x66\x77", 12));
  device.Hear(&host);
  EXPECT(host.session.StartSession() == kTvmErrorNoError && !host.session.IsEstablished());
  device.Hear(&host);
  EXPECT(device.session.IsEstablished() && device.type == MessageType::kStartSessionReply);
  EXPECT(device.wire.Contents() == std::string("\xff\xfd\x04\x00\x00\x00\x82\x66\x01\x01\x81\xf3", 12));
  host.Hear(&device);
  EXPECT(host.session.IsEstablished());
  EXPECT(host.session.StartMessage(MessageType::kNormal, 5) == kTvmErrorNoError);
  EXPECT(host.session.SendBodyChunk(bytes("hel"), 3) == kTvmErrorNoError);
  EXPECT(host.session.SendBodyChunk(bytes("lo"), 2) == kTvmErrorNoError);
  EXPECT(host.session.FinishMessage() == kTvmErrorNoError);
  device.Hear(&host);
  EXPECT(device.type == MessageType::kNormal && device.body == "hello");
  device.session.ClearReceiveBuffer();
  EXPECT(device.session.SendMessage(MessageType::kLog, bytes("log1"), 4) == kTvmErrorNoError);
  host.Hear(&device);
  EXPECT(host.type == MessageType::kLog && host.body == "log1");
  host.session.ClearReceiveBuffer();
  EXPECT(device.session.TerminateSession() == kTvmErrorNoError);
  host.Hear(&device);
  EXPECT(host.type == MessageType::kTerminateSession && !host.session.IsEstablished());
}

}  // namespace

int main() {
  frames_are_sent();
  their_crc_is_that_of_bytes_or_pieces();
  frames_are_received_whole_and_in_pieces();
  a_wrong_crc_is_told_and_no_error();
  what_the_stream_does_not_take_is_not_consumed();
  a_cut_frame_is_an_error_and_the_next_one_is_received();
  streams_say_how_far_they_came();
  sessions_are_made_used_and_ended();
  EXPECT(static_cast<uint8_t>(Escape::kEscapeNop) == 0xfe);
  return 0;
}

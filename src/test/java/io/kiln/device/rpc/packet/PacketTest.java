// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.packet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.device.rpc.packet.RpcValue.TypeCode;
import io.kiln.device.transport.FrameReader.Frames;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Packets byte by byte, as MinRPC lays them out. */
class PacketTest {
    private static final HexFormat HEX = HexFormat.ofDelimiter(" ").withUpperCase();
    private static final String ZEROS = " 00 00 00 00 00 00 00";
    private static final RpcValue.Tensor TENSOR =
            new RpcValue.Tensor(0x20000100, RpcValue.Device.CPU, DataType.of(DType.INT8), List.of(1L, 4L), 0);

    @Test
    void initServer() {
        Bytes packet = new PacketWriter(RpcCode.INIT_SERVER)
                .counted("0.8.0".getBytes(StandardCharsets.US_ASCII))
                .sequence(List.of())
                .packet();
        assertThat(hex(packet)).isEqualTo("15" + ZEROS + " 02 00 00 00 05" + ZEROS + " 30 2E 38 2E 30 00 00 00 00");
        String framed = HEX.formatHex(framed(packet));
        assertThat(framed).startsWith("FF FD 20 00 00 00 82 66 10 15").endsWith("6F DE");
    }

    @Test
    void nothingReturned() {
        Bytes packet = PacketWriter.packet(RpcCode.RETURN, new RpcValue.Null());
        assertThat(hex(packet)).isEqualTo("0C" + ZEROS + " 04 00 00 00 01 00 00 00 04 00 00 00");
        assertThat(HEX.formatHex(framed(packet)))
                .startsWith("FF FD 17 00 00 00 82 66 10 0C")
                .endsWith("04 00 00 00 94 9A");
        assertThat(PacketReader.of(packet).sequence()).containsExactly(new RpcValue.Null());
    }

    @Test
    void globalFunctionsAreAskedForByName() {
        String name = "runtime.SystemLib";
        assertThat(hex(PacketWriter.packet(RpcCode.GET_GLOBAL_FUNC, new RpcValue.Str(name))))
                .isEqualTo("25" + ZEROS + " 09 00 00 00 01 00 00 00 0B 00 00 00 11" + ZEROS + " "
                        + HEX.formatHex(name.getBytes(StandardCharsets.US_ASCII)));
        Bytes reply = parse("14" + ZEROS + " 04 00 00 00 01 00 00 00 03 00 00 00 00 80 02 80 00 00 00 00");
        assertThat(PacketReader.of(reply).sequence()).containsExactly(new RpcValue.Handle(0x80028000L));
    }

    @Test
    void aFunctionIsCalledAndReturnsAModule() {
        Bytes call = new PacketWriter(RpcCode.CALL_FUNC)
                .u64(0x80028000L)
                .sequence(List.of())
                .packet();
        assertThat(hex(call)).isEqualTo("10" + ZEROS + " 03 00 00 00 00 80 02 80 00 00 00 00 00 00 00 00");
        PacketReader reply = PacketReader.of(parse("20" + ZEROS + " 04 00 00 00 02 00 00 00 00 00 00 00 03 00 00 00 09"
                + ZEROS + " 00 80 00 00 00 00 00 00"));
        assertThat(reply.code()).isEqualTo(RpcCode.RETURN);
        assertThat(reply.sequence()).containsExactly(new RpcValue.Int(9), new RpcValue.Handle(0x8000));
    }

    @Test
    void aBoolHasACodeOfItsOwnAndEightBytes() {
        Bytes packet = PacketWriter.packet(RpcCode.RETURN, new RpcValue.Bool(true), new RpcValue.Bool(false));
        assertThat(hex(packet))
                .isEqualTo(
                        "20" + ZEROS + " 04 00 00 00 02 00 00 00 0F 00 00 00 0F 00 00 00 01" + ZEROS + " 00" + ZEROS);
        assertThat(PacketReader.of(packet).sequence())
                .containsExactly(new RpcValue.Bool(true), new RpcValue.Bool(false));
    }

    @Test
    void aCopyToTheBoard() {
        byte[] data = {1, 2, -1, 4};
        Bytes packet = new PacketWriter(RpcCode.COPY_TO_REMOTE)
                .tensor(TENSOR)
                .u64(data.length)
                .raw(data)
                .packet();
        assertThat(hex(packet))
                .isEqualTo("40" + ZEROS + " 07 00 00 00 00 01 00 20 00 00 00 00 01 00 00 00 00 00 00 00 02 00 00 00"
                        + " 00 08 01 00 01" + ZEROS + " 04" + ZEROS + " 00" + ZEROS + " 04" + ZEROS + " 01 02 FF 04");
        assertThat(HEX.formatHex(framed(packet)))
                .startsWith("FF FD 4B 00 00 00")
                .endsWith("01 02 FF FF 04 2A 13");
        PacketReader reply = PacketReader.of(parse("08" + ZEROS + " 08 00 00 00 01 02 FF 04"));
        assertThat(reply.code()).isEqualTo(RpcCode.COPY_ACK);
        assertThat(reply.rest().toArray()).isEqualTo(data);
    }

    @Test
    void anException() {
        PacketReader reply = PacketReader.of(
                parse("18" + ZEROS + " 05 00 00 00 01 00 00 00 0B 00 00 00 04" + ZEROS + " 62 6F 6F 6D"));
        assertThat(reply.code()).isEqualTo(RpcCode.EXCEPTION);
        assertThat(reply.sequence()).containsExactly(new RpcValue.Str("boom"));
    }

    @Test
    void everyKindOfValueIsReadAsItWasWritten() {
        List<RpcValue> values = all();
        assertThat(PacketReader.of(new PacketWriter(RpcCode.RETURN)
                                .sequence(values)
                                .packet())
                        .sequence())
                .isEqualTo(values);
    }

    @Test
    void codesAreTheProtocols() {
        assertThat(RpcCode.GET_GLOBAL_FUNC.code()).isEqualTo(9);
        assertThat(RpcCode.DEV_ALLOC_DATA_WITH_SCOPE.code()).isEqualTo(17);
        assertThat(RpcCode.DEV_GET_CURRENT_STREAM.code()).isEqualTo(21);
        assertThat(RpcCode.of(22)).isEmpty();
        assertThat(TypeCode.STR.code()).isEqualTo(11);
        assertThat(TypeCode.ND_ARRAY.code()).isEqualTo(13);
        assertThat(TypeCode.of(-1)).isEmpty();
    }

    @Test
    void typesOfElementsAreDLPacks() {
        assertThat(DataType.of(DType.INT8)).isEqualTo(new DataType(0, 8, 1)).hasToString("int8");
        assertThat(DataType.of(DType.UINT64)).isEqualTo(new DataType(1, 64, 1));
        assertThat(DataType.of(DType.FLOAT32)).isEqualTo(new DataType(2, 32, 1));
        assertThat(DataType.of(DType.BOOL)).isEqualTo(new DataType(1, 1, 1));
        assertThat(DataType.of(DType.BOOL).bytes()).isEqualTo(1);
        assertThat(new DataType(2, 32, 4)).hasToString("float32x4");
        assertThat(new DataType(2, 32, 4).bytes()).isEqualTo(16);
    }

    @Test
    void whatIsMalformedIsAnErrorWhateverItIs() {
        byte[] good = new PacketWriter(RpcCode.RETURN).sequence(all()).packet().toArray();
        Random random = new Random(3);
        for (int i = 0; i < 20_000; i++) {
            byte[] bad = Arrays.copyOf(good, 20 + random.nextInt(good.length - 19));
            bad[0] = (byte) (bad.length - 8);
            bad[1] = (byte) ((bad.length - 8) >> 8);
            bad[12 + random.nextInt(8)] ^= (byte) (1 << random.nextInt(8));
            readsOrRefuses(bad);
        }
        assertThatThrownBy(() -> PacketReader.of(parse("05" + ZEROS + " 04 00 00 00")))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("says that it has 5 bytes");
        assertThatThrownBy(() -> PacketReader.of(parse("04" + ZEROS + " 63 00 00 00")))
                .hasMessageContaining("code 99");
        assertThatThrownBy(() -> PacketReader.of(parse("08" + ZEROS + " 04 00 00 00 FF FF FF 7F"))
                        .sequence())
                .hasMessageContaining("2147483647 values");
    }

    private static void readsOrRefuses(byte[] packet) {
        try {
            assertThat(PacketReader.of(Bytes.copyOf(packet)).sequence()).isNotNull();
        } catch (RpcException e) {
            assertThat(e.kind()).isEqualTo(RpcException.Kind.MALFORMED);
        }
    }

    private static List<RpcValue> all() {
        return List.of(
                new RpcValue.Int(-7),
                new RpcValue.Bool(true),
                new RpcValue.UInt(-1),
                new RpcValue.Real(0.1),
                new RpcValue.Handle(0xFFFFFFFFL),
                new RpcValue.Null(),
                new RpcValue.Type(new DataType(2, 32, 4)),
                new RpcValue.Device(1, 3),
                TENSOR.at(9),
                new RpcValue.ObjectRef(9, 77),
                new RpcValue.Module(0x8000),
                new RpcValue.Function(0x80008000L),
                new RpcValue.Str("grün"),
                new RpcValue.Data(Bytes.ofText("\0x")));
    }

    private static byte[] framed(Bytes packet) {
        ByteArrayOutputStream payload = new ByteArrayOutputStream();
        payload.writeBytes(new byte[] {(byte) 0x82, 0x66, 0x10});
        payload.writeBytes(packet.toArray());
        return Frames.encode(Bytes.wrap(payload.toByteArray()));
    }

    private static String hex(Bytes bytes) {
        return HEX.formatHex(bytes.toArray());
    }

    private static Bytes parse(String hex) {
        return Bytes.wrap(HEX.parseHex(hex));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Payloads of the driver: what is read of them, and what is wrong with those that are refused. */
class DriverPayloadTest {
    private static final int U55_128 = 0x1807;
    private static final int U65_512 = 0x10006009;

    private static DriverPayload read(Bytes payload) {
        return DriverPayload.read(
                payload, (what, expected) -> new IllegalStateException(what + "; expected " + expected));
    }

    private static CommandWords clamp() {
        return new CommandWords().clamp(0, 128, 4, 4, 8, -10, 127);
    }

    @Test
    void theConfigurationNamesTheNpu() {
        NpuConfiguration u55 = read(clamp().payload(U55_128)).configuration();
        assertThat(u55.name()).isEqualTo("ethos-u55-128");
        assertThat(u55.release()).hasToString("1.0.6");
        assertThat(u55.word()).isEqualTo(U55_128);
        NpuConfiguration u65 = read(clamp().payload(U65_512)).configuration();
        assertThat(u65.name()).isEqualTo("ethos-u65-512");
        assertThat(u65.cores()).isEqualTo(2);
        assertThat(u65.word()).isEqualTo(U65_512);
    }

    @Test
    void theDisassemblyShowsCommandsAndWhatOperationsTouch() {
        List<String> lines = read(clamp().payload(U55_128)).lines();
        assertThat(lines)
                .contains(
                        "  000020  SET_IFM_REGION 1",
                        "  000024  SET_IFM_BASE0 0x00000000",
                        "    #0 at 0x118: POOL MAX 4x4x8, IFM 1:0x0..0x80, OFM 1:0x80..0x100",
                        "  00011c  STOP 65535");
    }

    /** A convolution with a kernel of 3 x 3, dilated, of an 8-channel map, with weights and scales of its own. */
    @Test
    void multiplyAccumulatesAreThoseOfTheWeights() {
        CommandWords words = clamp().narrow(0x120, 4).narrow(0x121, 4).narrow(0x122, 0x18);
        words.narrow(0x128, 0).wide(0x020, 160).wide(0x021, 64);
        words.narrow(0x129, 0).wide(0x022, 0).wide(0x023, 80).narrow(0x114, 1);
        words.narrow(0x100, 2).narrow(0x101, 2).narrow(0x102, 2).narrow(0x103, 2);
        NpuOperation operation =
                NpuOperations.of(read(words.narrow(0x002, 0).payload(U55_128))).get(1);
        assertThat(operation.text())
                .endsWith("CONV 4x4x8, 9216 MACs, IFM 1:0x0..0x80, weights 0:0xa0..0xe0, scales 0:0x0..0x50, OFM"
                        + " 1:0x80..0x100");
    }

    /** As newer compilers write maps from their end. */
    @Test
    void stridesMayBeNegative() {
        CommandWords words = clamp().wide(0x010, 128 + 96).wide(0x015, -32).narrow(0x005, 0);
        words.wide(0x010, 64).narrow(0x005, 0);
        List<NpuOperation> operations = NpuOperations.of(read(words.payload(U55_128)));
        assertThat(operations.get(1).text()).endsWith("OFM 1:0x80..0x100");
        Refusal refusal = (what, expected) -> new IllegalStateException(what + "; expected " + expected);
        assertThatThrownBy(() -> NpuOperations.check(operations, List.of(16L, 256L), refusal))
                .hasMessageContaining("operation #2")
                .hasMessageContaining("leaves region 1 with its OFM");
    }

    @Test
    void whatLeavesItsRegionIsNamed() {
        List<NpuOperation> operations = NpuOperations.of(read(clamp().payload(U55_128)));
        Refusal refusal = (what, expected) -> new IllegalStateException(what + "; expected " + expected);
        NpuOperations.check(operations, List.of(16L, 256L), refusal);
        assertThatThrownBy(() -> NpuOperations.check(operations, List.of(16L, 255L), refusal))
                .hasMessageContaining("operation #0 at 0x118: POOL MAX 4x4x8")
                .hasMessageContaining("leaves region 1 with its OFM; expected addresses below 255");
        assertThatThrownBy(() -> NpuOperations.check(operations, List.of(16L), refusal))
                .hasMessageContaining("expected one of the 1 regions");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0x44, does not begin with COP1",
        "4, 0x03, byte 0x4 of the command stream is driver action 3",
        "4, 0x05, byte 0x8 of the command stream is driver action 7",
        "11, 0x70, names product 7",
        "30, 0xff, ends beyond the payload",
        "28, 0x05, byte 0x20 of the command stream is driver action 15",
        "32, 0x55, is the unknown command 0x155 of kind 0",
        "33, 0x81, is a command of kind 2",
        "30, 0x02, is a command whose second word lies beyond the stream",
        "30, 0x04, 'is where the stream ends, without STOP'"
    })
    void whatIsWrongIsSaidWithItsOffset(int at, String value, String message) {
        byte[] payload = new CommandWords()
                .narrow(0x10F, 1)
                .wide(0x000, 0)
                .narrow(0x104, 3)
                .payload(U55_128)
                .toArray();
        UnaryOperator<byte[]> change = bytes -> {
            bytes[at] = (byte) Integer.decode(value).intValue();
            return bytes;
        };
        assertThatThrownBy(() -> read(Bytes.wrap(change.apply(payload))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(message);
    }

    @Test
    void aSecondStreamAndACutOneAreRefused() {
        byte[] one = clamp().payload(U55_128).toArray();
        byte[] two = new byte[2 * one.length];
        System.arraycopy(one, 0, two, 0, one.length);
        System.arraycopy(one, 4, two, one.length, one.length - 4);
        two[two.length - 4] = 5;
        assertThatThrownBy(() -> read(Bytes.wrap(two))).hasMessageContaining("is a second command stream");
        assertThatThrownBy(() -> read(Bytes.wrap(one).part(0, one.length - 3)))
                .hasMessageContaining("no whole number of words");
        assertThatThrownBy(() -> read(Bytes.wrap(one).part(0, one.length - 4)))
                .hasMessageContaining("ends beyond the payload");
        assertThatThrownBy(() -> read(clamp().unended(U55_128))).hasMessageContaining("without STOP");
    }
}

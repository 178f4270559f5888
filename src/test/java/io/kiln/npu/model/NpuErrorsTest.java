// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the model of the NPU says of streams that are wrong, and where. */
class NpuErrorsTest {
    private static final int CONFIG = 0x1807;
    private static final int FLASH_BYTES = 512;
    private static final int ARENA_BYTES = 256;
    private static final int SCALES = 304;

    @TempDir
    private static Path folder;

    private static NpuHost host;

    @BeforeAll
    static void compile() {
        host = NpuHost.compile(folder);
    }

    /** A convolution of 2x2x8 values by 1x1; weights at 0 and scales behind them. */
    private static NpuStream convolution() {
        return new NpuStream()
                .set(0x10f, 1)
                .all(0x10a, List.of(1, 1, 1))
                .set(NpuStream.IFM_DEPTH_M1, 7)
                .set(NpuStream.IFM_PRECISION, 1)
                .wide(0x004, List.of(8, 16, 0))
                .set(0x11f, 1)
                .all(0x11a, List.of(1, 1, 1))
                .all(NpuStream.OFM_WIDTH_M1, List.of(1, 1, 7))
                .set(NpuStream.OFM_PRECISION, 1)
                .wide(0x010, List.of(32))
                .wide(0x014, List.of(8, 16, 0))
                .all(NpuStream.ACTIVATION, List.of(0, 0xff80, 0x7f))
                .set(NpuStream.OFM_BLK_DEPTH_M1, 7)
                .wide(NpuStream.WEIGHT_BASE, List.of(0, weights().length))
                .wide(NpuStream.SCALE_BASE, List.of(SCALES, 80));
    }

    private static byte[] weights() {
        return NpuWeights.encoded(Collections.nCopies(8 * 32, 0));
    }

    private static NpuJob job(byte[] payload) {
        NpuArena flash = new NpuArena();
        flash.add(weights());
        assertThat(flash.bytes()).hasSize(SCALES);
        flash.allocate(FLASH_BYTES - SCALES);
        return new NpuJob(CONFIG)
                .region(FLASH_BYTES, Bytes.wrap(flash.bytes()))
                .region(ARENA_BYTES, Bytes.ofText(""))
                .payload(payload)
                .run(List.of());
    }

    /** The text for a stream whose last command is wrong because of what was set before. */
    private static void expect(String text, int opcode, int parameter, Consumer<NpuStream> change) {
        NpuStream stream = convolution();
        change.accept(stream);
        int at = stream.offset();
        NpuHost.Answer answer = host.run(job(stream.set(opcode, parameter).payload(CONFIG)));
        assertThat(answer.text()).contains(text).contains("byte " + at + " of the payload");
        assertThat(answer.exitCode()).isEqualTo(1);
    }

    @Test
    void theDriverAndTheWeightsDoWhatTheyShould() {
        assertThat(host.check()).isEqualTo("the driver and the weights do what they should\n");
    }

    @Test
    void theConvolutionItselfIsRight() {
        NpuHost.Answer answer =
                host.run(job(convolution().set(NpuStream.CONVOLUTION, 0).payload(CONFIG)));
        assertThat(answer.text()).contains("1 conv region 1 base0 32 2x2x8 s8 crc32 ");
        assertThat(answer.exitCode()).isZero();
    }

    @Test
    void memoryOutsideOfTheRegionsIsRefused() {
        Map<String, Consumer<NpuStream>> wrong = new LinkedHashMap<>();
        wrong.put(
                "operation 1, command 0x00000002 (conv): IFM: ends outside of its region (0x10c, limit 0x100)",
                s -> s.set(0, 0, 236));
        wrong.put("IFM: ends outside of its region (0x110, limit 0x100)", s -> s.set(5, 0, 256));
        wrong.put(
                "IFM: ends outside of its region (0xffff", s -> s.set(5, 0, -17).set(0, 0, 16));
        wrong.put("IFM: ends outside of its region (0xff00000020", s -> s.set(0, 0xff, 0));
        wrong.put("IFM: no such region was given (0x3", s -> s.set(0x10f, 3));
        wrong.put("IFM: no such region was given (0xffff", s -> s.set(0x10f, 0xffff));
        wrong.put("OFM: ends outside of its region", s -> s.set(NpuStream.OFM_WIDTH_M1, 0xffff));
        wrong.put("OFM: would write to region 0, the constants", s -> s.set(0x11f, 0));
        wrong.put(
                "OFM: not aligned (0x21, limit 0x2)",
                s -> s.set(NpuStream.OFM_PRECISION, 3).set(0x10, 0, 33));
        wrong.put("weights: ends outside of its region", s -> s.set(NpuStream.WEIGHT_BASE, 0, 0xfffffff0));
        wrong.put("weights: not aligned (0x8, limit 0x10)", s -> s.set(NpuStream.WEIGHT_BASE, 0, 8));
        wrong.put("scales: ends outside of its region", s -> s.set(NpuStream.SCALE_BASE, 0, 500));
        wrong.put("length of the scales: sizes do not fit together", s -> s.set(NpuStream.SCALE_BASE + 1, 0, 79));
        wrong.forEach((text, change) -> expect(text, NpuStream.CONVOLUTION, 0, change));
    }

    @Test
    void registersAndShapesThatThereAreNotAreRefused() {
        Map<String, Consumer<NpuStream>> wrong = new LinkedHashMap<>();
        wrong.put("IFM_PRECISION: a value that the NPU does not have (0xd", s -> s.set(NpuStream.IFM_PRECISION, 13));
        wrong.put("IFM_PRECISION: a value that the NPU does not have (0x9", s -> s.set(NpuStream.IFM_PRECISION, 9));
        wrong.put("OFM_PRECISION: a value", s -> s.set(NpuStream.OFM_PRECISION, 7));
        wrong.put(
                "OFM_PRECISION: a value that the NPU does not have (0xc001",
                s -> s.set(NpuStream.OFM_PRECISION, 0xc001));
        wrong.put("IFM_UPSCALE: a value", s -> s.set(NpuStream.IFM_UPSCALE, 3));
        wrong.put("OFM_BLK_DEPTH_M1: a value", s -> s.set(NpuStream.OFM_BLK_DEPTH_M1, 128));
        wrong.put("PARALLEL_MODE: a value", s -> s.set(NpuStream.PARALLEL_MODE, 1));
        wrong.put("padding and window: sizes do not fit together", s -> s.set(NpuStream.IFM_PAD_TOP, 9));
        wrong.put("ACTIVATION: the model does not know this function", s -> s.set(NpuStream.ACTIVATION, 3));
        wrong.put("table: a value that the NPU does not have (0x8, limit 0x8)", s -> s.set(NpuStream.ACTIVATION, 24));
        wrong.put("weights: too few (0x120, limit 0x120)", s -> s.set(NpuStream.WEIGHT_BASE + 1, 0, 288));
        wrong.put("weights: more than the operation has", s -> s.set(NpuStream.IFM_PRECISION, 5));
        wrong.put("weights: do not decode", s -> s.wide(NpuStream.WEIGHT_BASE, List.of(SCALES, 80)));
        wrong.forEach((text, change) -> expect(text, NpuStream.CONVOLUTION, 0, change));
        expect("kind of a pool: unknown", NpuStream.POOL, 3, s -> {});
        expect("OFM depth of a sum: sizes do not fit together (0x8", NpuStream.POOL, 2, s -> {});
        expect("(elementwise 10): elementwise function: unknown (0xa", NpuStream.ELEMENTWISE, 10, s -> {});
        expect("IFM2: no such region was given (0x9", NpuStream.ELEMENTWISE, 1, s -> s.set(0x18f, 9));
    }

    @Test
    void dmaStaysInItsRegionsAndInTheTables() {
        Map<String, Consumer<NpuStream>> wrong = new LinkedHashMap<>();
        wrong.put("DMA source: ends outside of its region", s -> s.set(0x32, 0, FLASH_BYTES + 16));
        wrong.put("DMA destination: would write to region 0", s -> s.set(0x32, 0, 16));
        wrong.put(
                "DMA destination: ends outside",
                s -> s.set(0x131, 1).set(0x31, 0, ARENA_BYTES).set(0x32, 0, 16));
        wrong.put(
                "table in SHRAM: ends outside",
                s -> s.set(0x131, 0x100).set(0x31, 0, 0x5000).set(0x32, 0, 16));
        wrong.put(
                "table in SHRAM: ends outside of its region (0x6010, limit 0x6000)",
                s -> s.set(0x131, 0x100).set(0x31, 0, 0x6000).set(0x32, 0, 16));
        wrong.put(
                "DMA length: not aligned (0x8, limit 0x10)",
                s -> s.set(0x131, 0x100).set(0x31, 0, 0x5800).set(0x32, 0, 8));
        wrong.put("mode of a DMA: the model does not know", s -> s.set(0x130, 0x200));
        wrong.forEach((text, change) -> expect(text, NpuStream.DMA_START, 0, change));
    }

    @Test
    void commandsThatThereAreNotAreRefused() {
        expect("command: unknown (0x106", 0x106, 0, s -> {});
        expect("command: unknown (0x4", 0x004, 0, s -> {});
        expect("command: unknown (0x7", 0x4007, 0, s -> {});
        expect("command: unknown (0x0", 0x8000, 0, s -> {});
        expect("command: unknown (0x2", 0xc002, 0, s -> {});
    }

    @Test
    void payloadsThatWereCutOrAreNotVelasAreRefused() {
        NpuStream stream = convolution();
        int end = (stream.offset() - NpuStream.BEGIN) / 4;
        assertThat(text(stream.payload(CONFIG, end + 1, 0x12))).contains("command stream: ends without STOP");
        assertThat(text(stream.payload(CONFIG, end + 2, -1)))
                .contains("byte 28 of the payload, operation 0")
                .contains("command stream: the payload is not one of Vela's, or was cut");
        byte[] more = stream.set(0, 0xffff).payload(CONFIG, end + 1, 0x63);
        assertThat(text(more)).contains("driver action: the payload is not one of Vela's");
        assertThat(text(new byte[8])).contains("first word: the payload is not one of Vela's");
        assertThat(text(new byte[6])).contains("size of the payload");
    }

    private static String text(byte[] payload) {
        return host.run(job(payload)).text();
    }

    /** Both are named: what the payload was made for, and what the model is. */
    @Test
    void aPayloadForAnotherNpuIsRefused() {
        Map<Integer, String> others = Map.of(
                0x3008,
                "ethos-u55-256 with 48 KiB of SHRAM (0x00003008)",
                0x1807 | 1 << 28,
                "ethos-u65-128 with 24 KiB of SHRAM (0x10001807)",
                0x1007,
                "ethos-u55-128 with 16 KiB of SHRAM (0x00001007)",
                0x20000008,
                "ethos-u85-256 with 0 KiB of SHRAM (0x20000008)");
        others.forEach((config, name) -> assertThat(text(convolution().payload(config)))
                .contains("byte 4 of the payload")
                .contains("made for another NPU: " + name)
                .contains("and this is ethos-u55-128 with 24 KiB of SHRAM (0x00001807)"));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

/** TFLM_DECODE: constants compressed as the formats have it, and the codes of TensorFlow Lite Micro's own test, come back as they were. */
class DecodeImportTest {
    private static final int CASES = 40;
    private static final int HEADER = 16;
    private static final byte[] TYPES = {
        TensorType.BOOL, TensorType.INT8, TensorType.INT16, TensorType.INT32, TensorType.FLOAT32, TensorType.INT64
    };
    private static final int[] SIZES = {1, 1, 2, 4, 4, 8};

    /** What TensorFlow Lite Micro's test of Huffman codes decodes. */
    private static final String PLAIN = "nmmacnanefdacopjomeckifookhbdbdmjjdmjgojfecpbiibmanbbjbnlgjafejp";

    private static final int[] CODED = {
        0xF0, 0x0D, 0x79, 0xFC, 0x9C, 0x1A, 0x6E, 0x4C, 0x32, 0xAF, 0x29, 0xB3, 0x5D, 0xF6, 0x36, 0x02,
        0x50, 0x15, 0x8C, 0xA7, 0x95, 0xDB, 0x29, 0x68, 0x3F, 0xBA, 0xB7, 0xED, 0xB1, 0x19, 0xE2, 0xE0
    };
    private static final int[] TABLES = {
        0x986D, 0x9861, 0x986A, 0x0005, 0x0806, 0x0809, 0x000E, 0x000F, 0x886F, 0x8868, 0x8864, 0x8864,
        0x9069, 0x9066, 0x8863, 0x8863, 0x0002, 0x906B, 0x8867, 0x886C, 0x8865, 0x8862, 0x8870, 0x886E
    };

    /** Codes and what belongs to them. */
    private record Encoded(Bytes codes, Bytes ancillary) {}

    private static Encoded encoded(byte[] codes, byte... ancillary) {
        return new Encoded(Bytes.wrap(codes), Bytes.wrap(ancillary));
    }

    private static byte[] header(int kind, int parameters, int stride) {
        byte[] header = new byte[HEADER];
        header[0] = (byte) kind;
        header[1] = 1;
        header[4] = 1;
        header[5] = (byte) parameters;
        header[6] = (byte) stride;
        return header;
    }

    private static byte[] joined(byte[] a, byte... b) {
        byte[] both = Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, both, a.length, b.length);
        return both;
    }

    private static byte[] data(TensorSpec output, Encoded encoded) {
        return decode(output, encoded).data().toArray();
    }

    /** What the output of the model, which is what was decoded, is copied from. */
    private static Constant decode(TensorSpec output, Encoded encoded) {
        TfliteModelBuilder model = new TfliteModelBuilder();
        int[] in = {
            model.tensor(
                    TensorSpec.of("codes", TensorType.UINT8, encoded.codes().size())
                            .withData(encoded.codes().toArray())),
            model.tensor(
                    TensorSpec.of("more", TensorType.UINT8, encoded.ancillary().size())
                            .withData(encoded.ancillary().toArray()))
        };
        int unused = model.tensor(TensorSpec.float32("unused", 1));
        int decoded = model.tensor(output);
        Function function = model.custom("TFLM_DECODE", in, decoded)
                .inputs(unused)
                .outputs(decoded)
                .read();
        return function.bindings().get(0).constant(0);
    }

    private static TensorSpec tensor(byte type, boolean channelsLast, int channels, int perChannel, Random random) {
        TensorSpec tensor = channelsLast
                ? TensorSpec.of("out", type, perChannel, channels)
                : TensorSpec.of("out", type, channels, perChannel);
        boolean isInt8 = type == TensorType.INT8;
        if (channels == 1 && random.nextBoolean()) {
            return isInt8 ? tensor.quantized(0.5f, random.nextInt(256) - 128) : tensor;
        }
        float[] scales = new float[channels];
        Arrays.fill(scales, 0.5f);
        long[] zeroPoints = new long[channels];
        for (int i = 0; i < channels && isInt8; i++) {
            zeroPoints[i] = random.nextInt(256) - 128L;
        }
        return tensor.quantized(scales, zeroPoints, channelsLast ? 1 : 0);
    }

    private static byte[] values(byte type, int count, int size, Random random) {
        byte[] values = new byte[count * size];
        random.nextBytes(values);
        for (int i = 0; i < values.length && type == TensorType.BOOL; i++) {
            values[i] &= 1;
        }
        return values;
    }

    private static byte[] packed(int[] codes, int width) {
        byte[] bytes = new byte[(codes.length * width + 7) / 8];
        for (int bit = 0; bit < codes.length * width; bit++) {
            int value = codes[bit / width] >> (width - 1 - bit % width) & 1;
            bytes[bit / 8] |= (byte) (value << (7 - bit % 8));
        }
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7})
    void codesAreLookedUpInTheTableOfTheirChannel(int width) {
        Random random = new Random(width);
        for (int i = 0; i < CASES; i++) {
            int kind = random.nextInt(TYPES.length);
            int size = SIZES[kind];
            int channels = 1 + random.nextInt(4);
            int perChannel = 1 + random.nextInt(70);
            boolean last = random.nextBoolean();
            int stride = 1 + random.nextInt(1 << width);
            byte[] table = values(TYPES[kind], stride * channels, size, random);
            int[] codes = random.ints((long) channels * perChannel, 0, stride).toArray();
            byte[] expected = new byte[codes.length * size];
            for (int k = 0; k < codes.length; k++) {
                int channel = last ? k % channels : k / perChannel;
                System.arraycopy(table, (channel * stride + codes[k]) * size, expected, k * size, size);
            }
            Encoded encoded = encoded(packed(codes, width), joined(header(0, width, stride), table));
            assertThat(data(tensor(TYPES[kind], last, channels, perChannel, random), encoded))
                    .isEqualTo(expected);
        }
    }

    @Test
    void prunedElementsAreZero() {
        Random random = new Random(5);
        for (int i = 0; i < CASES; i++) {
            int kind = random.nextInt(TYPES.length);
            int size = SIZES[kind];
            int channels = 1 + random.nextInt(4);
            int perChannel = 1 + random.nextInt(30);
            boolean last = random.nextBoolean();
            TensorSpec output = tensor(TYPES[kind], last, channels, perChannel, random);
            int[] kept = random.ints((long) channels * perChannel, 0, 2).toArray();
            byte[] table = values(TYPES[kind], Arrays.stream(kept).sum(), size, random);
            byte[] expected = new byte[kept.length * size];
            int next = 0;
            for (int k = 0; k < kept.length; k++) {
                if (kept[k] == 1) {
                    System.arraycopy(table, size * next++, expected, k * size, size);
                } else if (TYPES[kind] == TensorType.INT8
                        && !output.zeroPoints().isEmpty()) {
                    expected[k] = output.zeroPoints()
                            .get(last ? k % channels : k / perChannel)
                            .byteValue();
                }
            }
            assertThat(data(output, encoded(packed(kept, 1), joined(header(2, 0, 0), table))))
                    .isEqualTo(expected);
        }
    }

    private static byte[] coded() {
        byte[] codes = new byte[CODED.length];
        IntStream.range(0, codes.length).forEach(i -> codes[i] = (byte) CODED[i]);
        return codes;
    }

    private static Encoded narrow(int... tables) {
        ByteBuffer entries = ByteBuffer.allocate(tables.length * 2).order(ByteOrder.LITTLE_ENDIAN);
        Arrays.stream(tables).forEach(entry -> entries.putShort((short) entry));
        return encoded(coded(), joined(header(1, 2 << 4, 0), entries.array()));
    }

    /** The same tables with 32 bits for each entry: the value has 27 and not 11. */
    private static Encoded wide() {
        ByteBuffer entries = ByteBuffer.allocate(TABLES.length * 4).order(ByteOrder.LITTLE_ENDIAN);
        Arrays.stream(TABLES).forEach(entry -> entries.putInt(entry >> 11 << 27 | (entry & 0x7FF)));
        return encoded(coded(), joined(header(1, 2 << 4 | 1, 0), entries.array()));
    }

    @Test
    void huffmansCodesAreDecoded() {
        TensorSpec out = TensorSpec.of("out", TensorType.INT8, PLAIN.length());
        assertThat(data(out, narrow(TABLES)))
                .asString(StandardCharsets.US_ASCII)
                .isEqualTo(PLAIN);
        assertThat(data(out, wide())).asString(StandardCharsets.US_ASCII).isEqualTo(PLAIN);
        out = TensorSpec.of("out", TensorType.INT16, PLAIN.length());
        assertThat(data(out, wide())).asString(StandardCharsets.UTF_16LE).isEqualTo(PLAIN);
    }

    @Test
    void anOperatorDecodesSeveralWeightsForOthers() {
        TfliteModelBuilder model = new TfliteModelBuilder();
        int x = model.tensor(TensorSpec.float32("x", 3));
        byte[] values = LittleEndian.ofFloats(1.5f, -2);
        int[] in = {
            model.tensor(TensorSpec.of("a", TensorType.UINT8, 1).withData((byte) 0b0100_0000)),
            model.tensor(TensorSpec.of("b", TensorType.UINT8, HEADER + 8).withData(joined(header(0, 1, 2), values))),
            model.tensor(TensorSpec.of("c", TensorType.UINT8, 1).withData((byte) 0b1010_0000)),
            model.tensor(TensorSpec.of("d", TensorType.UINT8, HEADER + 8).withData(joined(header(2, 0, 0), values)))
        };
        int[] decoded = {model.tensor(TensorSpec.float32("u", 3)), model.tensor(TensorSpec.float32("v", 3))};
        int sum = model.tensor(TensorSpec.float32("sum", 3));
        int y = model.tensor(TensorSpec.float32("y", 3));
        Function function = model.custom("TFLM_DECODE", in, decoded)
                .operator(BuiltinOperator.ADD, 1, Options.add((byte) 0), new int[] {x, decoded[0]}, sum)
                .operator(BuiltinOperator.ADD, 1, Options.add((byte) 0), new int[] {sum, decoded[1]}, y)
                .inputs(x)
                .outputs(y)
                .read();
        Bytes answer = Interpreter.run(function, List.of(Bytes.wrap(LittleEndian.ofFloats(10, 20, 30))))
                .get(0);
        assertThat(answer.toArray()).isEqualTo(LittleEndian.ofFloats(13, 18, 29.5f));
    }

    private static void assertRefused(TensorSpec output, Encoded encoded, String text) {
        KilnException e = catchThrowableOfType(KilnException.class, () -> decode(output, encoded));
        assertThat(e).hasMessageContainingAll("operator #0 CUSTOM TFLM_DECODE", text);
    }

    @Test
    void dataThatMakeNoTensorAreRefused() {
        TensorSpec out = TensorSpec.of("out", TensorType.INT8, PLAIN.length());
        byte[] table = {1, 2, 3};
        byte[] codes = new byte[32];
        Arrays.fill(codes, (byte) 0xFF);
        assertRefused(out, encoded(codes, new byte[15]), "its ancillary data have 15 bytes, fewer than 16");
        assertRefused(out, encoded(codes, new byte[16]), "its ancillary data are of version 0 and 0, not 1");
        assertRefused(out, encoded(codes, header(127, 0, 0)), "its code is of kind 127");
        assertRefused(out, encoded(codes, joined(header(0, 0, 3), table)), "its codes have 0 bits");
        assertRefused(out, encoded(codes, joined(header(0, 2, 3), table)), "its value 3 lies beyond the end");
        assertRefused(out, encoded(codes, joined(header(0, 7, 3), table)), "its codes are 32 bytes, too few");
        assertRefused(out, encoded(codes, joined(header(2, 0, 0), table)), "its value 3 lies beyond the end");
        assertRefused(out, encoded(new byte[7], header(2, 0, 0)), "its codes are 7 bytes, too few");
        assertRefused(TensorSpec.of("out", TensorType.INT16, 4), narrow(TABLES), "16 bits does not make int16");
        assertRefused(TensorSpec.of("out", TensorType.INT8, 90), narrow(TABLES), "its codes are 32 bytes, too few");
        assertRefused(out, narrow(0x0001, 0x0002), "of its Huffman tables lies beyond their end");
        Encoded endless = encoded(new byte[32], narrow(0, 0, 0, 0).ancillary().toArray());
        assertRefused(out, endless, "its codes are 32 bytes, too few");
        assertRefused(
                TensorSpec.of("out", TensorType.INT32, 9).quantized(1f, 3),
                encoded(codes, header(2, 0, 0)),
                "there is a zero point");
        assertRefused(
                TensorSpec.of("out", TensorType.INT8, 2, 2, 2).quantized(new float[] {1, 2}, new long[2], 1),
                encoded(codes, joined(header(0, 1, 2), table)),
                "its channels are dimension 1");
        assertRefused(
                TensorSpec.of("out", TensorType.UINT8, 3).quantized(1f, 0),
                encoded(codes, header(2, 0, 0)),
                "element type uint8 of `out` is not supported here");
    }

    /** Whatever is in codes and ancillary data, they are decoded or refused with a message. */
    @Test
    void spoiledDataAreDecodedOrRefused() {
        Random random = new Random(11);
        BitSet outcomes = new BitSet();
        for (int i = 0; i < 2_000; i++) {
            Encoded whole = random.nextBoolean() ? narrow(TABLES) : wide();
            byte[] ancillary = whole.ancillary().toArray();
            ancillary[HEADER + random.nextInt(ancillary.length - HEADER)] = (byte) random.nextInt();
            byte[] codes = Arrays.copyOf(whole.codes().toArray(), 1 + random.nextInt(CODED.length));
            TensorSpec out = TensorSpec.of("out", TensorType.INT8, 1 + random.nextInt(PLAIN.length()));
            try {
                assertThat(data(out, encoded(codes, ancillary)))
                        .hasSize(out.shape().get(0));
                outcomes.set(0);
            } catch (KilnException e) {
                assertThat(e).hasMessageContaining("`out` cannot be decoded");
                outcomes.set(1);
            }
        }
        assertThat(outcomes.cardinality()).isEqualTo(2);
    }
}

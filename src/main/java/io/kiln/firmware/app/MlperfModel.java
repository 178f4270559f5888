// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.DType;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Prints {@code kiln_mlperf_model.h}: how what a runner sends becomes the model's input, and how its output becomes results. Conversions of
 * single bytes are computed here, so that the image needs no arithmetic of floats for them.
 */
final class MlperfModel {
    private static final int BYTES = 256;
    private static final int VALUES_IN_LINE = 16;

    /** Bytes of a chunk of samples, 32 ms of them. */
    private static final int CHUNK = 1024;

    private final Benchmark benchmark;
    private final TensorInfo input;
    private final TensorInfo output;
    private final StringBuilder out = new StringBuilder();

    /** The tensors of a model that {@link #isKnown}. */
    MlperfModel(Benchmark benchmark, TensorInfo input, TensorInfo output) {
        this.benchmark = benchmark;
        this.input = input;
        this.output = output;
    }

    /** Whether a tensor's numbers have a meaning that is known here. */
    static boolean isKnown(TensorInfo tensor) {
        return tensor.dtype().isFloat() || (bits(tensor.dtype()) > 0 && tensor.scale() > 0);
    }

    /** The header for an image in a mode, whose model has a name. */
    String print(MlperfOptions.Mode mode, InterfaceNames names) {
        line("/* SPDX-License-Identifier: Apache-2.0");
        line(" * Made by Kiln for the model in this image; this file is yours to use without conditions.");
        line(" */");
        line("#ifndef KILN_MLPERF_MODEL_H_");
        line("#define KILN_MLPERF_MODEL_H_");
        line("");
        line("#include <stdint.h>");
        line("");
        if (mode == MlperfOptions.Mode.ENERGY) {
            line("#define KILN_MLPERF_ENERGY");
        }
        if (benchmark.listens()) {
            stream(names);
        } else {
            loaded();
            results();
        }
        line("");
        line("#endif");
        return out.toString();
    }

    private void stream(InterfaceNames names) {
        define("STREAM", "");
        define("BYTES", CHUNK + "u");
        define("ELEMENT", "1u");
        define("RESULTS", output.elements() + "u");
        line("");
        line("#ifdef KILN_MLPERF_TABLES");
        line("#include \"" + names.preprocessHeader() + "\"");
        define("STATE", "struct " + names.preprocess());
        define("CALL(name)", names.preprocess() + "_##name");
        define("AUDIO(name)", names.macro("preprocess") + "_##name");
        line("#endif");
    }

    private void loaded() {
        boolean isRaw = benchmark == Benchmark.CUSTOM;
        DType type = isRaw ? DType.UINT8 : benchmark.type();
        define("BYTES", (isRaw ? input.bytes() : (long) benchmark.inputs() * type.bytes()) + "u");
        define("ELEMENT", type.bytes() + "u");
        if (isRaw || (type.isFloat() && input.dtype().isFloat())) {
            define("MASK", "0u");
        } else if (type.isFloat()) {
            define("INPUT", input.dtype().cName());
            define("SCALE", input.scale() + "f");
            define("ZERO", "(" + input.zeroPoint() + ")");
            define("LEAST", "(" + least(input.dtype()) + ")");
            define("MOST", String.valueOf(most(input.dtype())));
        } else {
            map();
        }
    }

    /** The model's input for every byte that may come: often the same byte but for its highest bit, which needs no table. */
    private void map() {
        byte[] map = new byte[BYTES * input.dtype().bytes()];
        ByteBuffer bytes = ByteBuffer.wrap(map).order(ByteOrder.LITTLE_ENDIAN);
        for (int sent = 0; sent < BYTES; sent++) {
            float real = benchmark.real(benchmark.type() == DType.INT8 ? (byte) sent : sent);
            switch (input.dtype()) {
                case FLOAT32 -> bytes.putFloat(real);
                case INT16 -> bytes.putShort((short) quantized(real));
                default -> bytes.put((byte) quantized(real));
            }
        }
        for (int mask : new int[] {0, 1 << 7}) {
            if (map.length == BYTES && IntStream.range(0, BYTES).allMatch(sent -> (byte) (sent ^ mask) == map[sent])) {
                define("MASK", mask + "u");
                return;
            }
        }
        define("MAP", input.dtype().bytes() + "u");
        table(
                "uint8_t kiln_mlperf_map[" + map.length + "]",
                IntStream.range(0, map.length).map(i -> map[i] & 0xFF));
    }

    private int quantized(float real) {
        float steps = real / input.scale();
        int rounded = (int) Math.copySign(Math.floor(Math.abs(steps) + 0.5), steps);
        return Math.max(least(input.dtype()), Math.min(most(input.dtype()), rounded + input.zeroPoint()));
    }

    private void results() {
        define("RESULTS", (benchmark.findsAnomalies() ? 1 : output.elements()) + "u");
        boolean isFloat = output.dtype().isFloat();
        if (benchmark.findsAnomalies()) {
            define("OUTPUT", output.dtype().cName());
            define("OUT_SCALE", (isFloat ? 1f : output.scale()) + "f");
            define("OUT_ZERO", (isFloat ? 0 : output.zeroPoint()) + ".0f");
        } else if (!isFloat) {
            thousandths();
        }
    }

    /** What each value of 8 bits means, rounded as C's printf rounds with three decimals. */
    private void thousandths() {
        int first = least(output.dtype());
        int[] values = IntStream.range(first, first + BYTES)
                .map(value -> new BigDecimal(output.scale() * (value - output.zeroPoint()))
                        .movePointRight(3)
                        .setScale(0, RoundingMode.HALF_EVEN)
                        .intValue())
                .toArray();
        boolean isShort = Arrays.stream(values).allMatch(value -> (short) value == value);
        define("FIRST", "(" + first + ")");
        table((isShort ? "int16_t" : "int32_t") + " kiln_mlperf_thousandths[" + BYTES + "]", Arrays.stream(values));
    }

    private void table(String declared, IntStream values) {
        int[] all = values.toArray();
        line("");
        line("#ifdef KILN_MLPERF_TABLES");
        line("static const " + declared + " = {");
        for (int from = 0; from < all.length; from += VALUES_IN_LINE) {
            line(Arrays.stream(all, from, from + VALUES_IN_LINE)
                    .mapToObj(value -> " " + value + ",")
                    .collect(Collectors.joining("", "   ", "")));
        }
        line("};");
        line("#endif");
        line("");
    }

    private void define(String name, String value) {
        line(String.format(Locale.ROOT, "#define KILN_MLPERF_%s %s", name, value)
                .stripTrailing());
    }

    private void line(String text) {
        out.append(text).append('\n');
    }

    private static int bits(DType type) {
        return switch (type) {
            case INT8, UINT8 -> 8;
            case INT16 -> 16;
            default -> 0;
        };
    }

    private static int least(DType type) {
        return type == DType.UINT8 ? 0 : -(1 << (bits(type) - 1));
    }

    private static int most(DType type) {
        return least(type) + (1 << bits(type)) - 1;
    }
}
